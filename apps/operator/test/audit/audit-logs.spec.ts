import { bodyText, startLogCollector } from '#test/support/log-collector.js';
import { runOperator, useOperator } from '../support/use-operator.js';

const operator = useOperator();

describe('a command', () => {
  it('exports its events as logs before it ends', async () => {
    const collector = await startLogCollector();
    const env = { ...operator.env, OPERATOR_NAME: 'ada', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: collector.url };
    const args = ['client', 'create', '--name', 'Rooms', '--redirect-uri', 'https://a.example/cb', '--json'];
    const { code, stdout } = await runOperator(args, env);
    expect(code).toBe(0);
    const { client_id: clientId } = JSON.parse(stdout) as { client_id: string };
    const [log, ...others] = collector.logs;
    expect([log?.eventName, others]).toEqual(['client.created', []]);
    expect([log && bodyText(log, 'client_id'), log && bodyText(log, 'operator')]).toEqual([
      clientId,
      expect.stringMatching(/^ada@/),
    ]);
    collector.close();
  });
});
