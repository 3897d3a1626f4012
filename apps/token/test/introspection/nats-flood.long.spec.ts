import { SUBJECTS } from '#messaging/contract.js';
import { until } from '#test/support/until.js';
import { type NatsTokenApp, REQUESTS, startNatsTokenApp } from '../support/start-nats-token-app.js';

/** Module that is loaded before the app. Collects garbage at SIGWINCH, which does not stop Nest. */
const COLLECTOR = `
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc');
// Without an argument, the function collects all generations.
const collect = runInNewContext('gc');
process.on('SIGWINCH', () => collect());`;

const MB = 1_000_000;
const { introspect } = SUBJECTS;

let token: NatsTokenApp;

beforeAll(async () => {
  token = await startNatsTokenApp({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COLLECTOR)}`,
  });
});

afterAll(() => token?.close());

async function memory(): Promise<number> {
  process.kill(token.app.process.pid, 'SIGWINCH');
  const metrics = await (await fetch(`${token.app.internalUrl}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1]);
  return value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes');
}

const warnings = (): number => token.app.output().split('malformed NATS message').length - 1;

const USELESS: ((size: number) => string)[] = [
  (size) => JSON.stringify({ pattern: introspect, data: { token: 'x'.repeat(size) } }),
  (size) => 'x'.repeat(size),
  (size) => JSON.stringify({ pattern: 'nobody.knows.this', data: { token: 'x'.repeat(size) }, id: '1' }),
  (size) => JSON.stringify({ pattern: 'nobody.knows.this', data: { token: 'x'.repeat(size) } }),
];

describe('a flood of malformed messages', () => {
  it.each([
    [300, 900_000],
    [9_000, 15_000],
  ])('leaks no memory and limits the log lines per subject: %i messages of %i bytes', async (count, size) => {
    await token.seen();
    await memory();
    const [before, began, lines] = [await memory(), Date.now(), warnings()];
    for (let sent = 0; sent < count; sent += 1) {
      const payload = (USELESS[sent % USELESS.length] as (size: number) => string)(size);
      token.nats.publish(REQUESTS[sent % REQUESTS.length] as string, payload, { reply: 'nobody.listens' });
      if (sent % 30 === 29) await token.seen();
    }
    await token.seen();
    await until('memory is where it was', 60_000, async () => (await memory()) < before + 20 * MB);
    const most = REQUESTS.length * (2 + (Date.now() - began) / 10_000);
    expect(warnings() - lines).toBeLessThanOrEqual(most);
  });
});
