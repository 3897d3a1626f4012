import { AuditPublisher } from '#audit/publisher.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { startLogExport } from '#platform/telemetry/start-telemetry.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { bodyText, startLogCollector } from '#test/support/log-collector.js';

let services: Isolated;

beforeAll(async () => {
  services = await isolate();
});

afterAll(async () => {
  await services.close();
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
});

/** Starts a publisher whose collector is at this URL. The exporter reads the variables of the process. */
async function start(url: string): Promise<AuditPublisher> {
  Object.assign(process.env, { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: url });
  const logs = await startLogExport('token', process.env);
  const options = { service: 'token', natsUrl: services.natsUrl } as const;
  const publisher = new AuditPublisher(options, new Metrics(), logs);
  publisher.onApplicationBootstrap();
  return publisher;
}

describe('the export of the audit trail as logs', () => {
  it('has each event once, as the trail has it, without credentials', async () => {
    const collector = await startLogCollector();
    const publisher = await start(collector.url);
    const secret = `sat_${'a'.repeat(86)}`;
    publisher.record({ type: 'token.issued', client_id: 'sc_logs', user_id: 7 });
    publisher.record({ type: 'token.reuse_detected', client_id: 'sc_logs', detail: { sent: secret } });
    publisher.record({
      type: 'request.refused',
      client_id: 'sc_logs',
      check: 'code_expired',
      error: 'invalid_grant',
    });
    await publisher.onApplicationShutdown();
    const trail = await auditEvents(services.natsUrl, { clientId: 'sc_logs' }, 3);
    expect(
      collector.logs.map((log) => [log.eventName, log.severityText, bodyText(log, 'client_id')]),
    ).toEqual([
      ['token.issued', 'INFO', 'sc_logs'],
      ['token.reuse_detected', 'WARN', 'sc_logs'],
      ['request.refused', 'WARN', 'sc_logs'],
    ]);
    const ids = collector.logs.map(({ attributes: [uid] }) => uid?.value.stringValue);
    expect(new Set(ids)).toEqual(new Set(trail.map(({ id }) => id)));
    expect(collector.texts.join('')).not.toContain(secret);
    collector.close();
  });

  it('does not delay events of the trail or the end of the process if the collector does not respond', async () => {
    const collector = await startLogCollector(true);
    const publisher = await start(collector.url);
    publisher.record({ type: 'token.issued', client_id: 'sc_silent' });
    await auditEvents(services.natsUrl, { clientId: 'sc_silent' }, 1);
    await publisher.onApplicationShutdown();
    expect([collector.requests(), collector.logs]).toEqual([1, []]);
    collector.close();
  });

  it.each([
    ['the endpoint of all signals', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }],
    [
      'OTEL_LOGS_EXPORTER=none',
      { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1:1', OTEL_LOGS_EXPORTER: 'none' },
    ],
  ])('is off with %s', async (_case, env) => {
    expect(await startLogExport('token', env)).toBeNull();
  });
});
