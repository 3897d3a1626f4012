import { monitorRedis } from '#test/support/redis-monitor.js';
import { becomesRefused } from '#test/support/tokens.js';
import { type Replicas, startReplicas } from '../support/start-resource-app.js';

const REPLICAS = 4;
const REVOCATIONS = 100;
/** Required share of revocations that every replica applies after at most one introspection of another token. */
const PROMPT = 0.9;

let product: Replicas;

beforeAll(async () => {
  product = await startReplicas(REPLICAS);
});

afterAll(() => product.close());

interface Latency {
  /** Baseline in ms: a revocation without effect, and a request with an uncached token to every replica. */
  readonly plain: number;
  /** Milliseconds from the start of the revocation to the refusal by the last replica. */
  readonly fromStart: number;
  /** Milliseconds from the response to the revocation to the refusal by the last replica. */
  readonly fromAnswer: number;
  /** Number of other tokens that the slowest replica introspected before its refusal. */
  readonly introspections: number;
}

async function revokeOne(): Promise<Latency> {
  const { access_token, refresh_token } = await product.pair();
  const all = () => Promise.all(product.replicas.map((replica) => product.me(replica, access_token)));
  const before = performance.now();
  await product.revoke('nothing');
  const known = await all();
  const plain = performance.now() - before;
  expect(known.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const start = performance.now();
  expect((await product.revoke(refresh_token)).status).toBe(200);
  const answered = performance.now();
  const introspections = await Promise.all(
    product.replicas.map(({ url }) => becomesRefused(url, access_token)),
  );
  const refused = performance.now();
  const [fromStart, fromAnswer] = [refused - start, refused - answered];
  return { plain, fromStart, fromAnswer, introspections: Math.max(...introspections) };
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

function table(latencies: readonly Latency[]): string {
  const line = (name: string, valueOf: (latency: Latency) => number) => {
    const values = latencies.map(valueOf);
    const shown = [0.5, 0.9, 0.99, 1].map((share) => percentile(values, share).toFixed(1).padStart(6));
    return `${name.padEnd(28)} p50 ${shown[0]}  p90 ${shown[1]}  p99 ${shown[2]}  max ${shown[3]} ms`;
  };
  return [
    `revoke → refused at every one of ${REPLICAS} replicas, ${latencies.length} revocations`,
    line('from the revocation', ({ fromStart }) => fromStart),
    line('from its answer', ({ fromAnswer }) => fromAnswer),
    line('baseline without effect', ({ plain }) => plain),
    '',
  ].join('\n');
}

describe('a revocation', () => {
  // @rfc 7009 2.1 @reliability revocation-latency
  it('takes effect at every replica within the time of one request to the token app, in at least 90 % of cases', async () => {
    for (let i = 0; i < 20; i++) await revokeOne();
    const latencies: Latency[] = [];
    for (let i = 0; i < REVOCATIONS; i++) latencies.push(await revokeOne());
    process.stderr.write(table(latencies));
    expect(
      percentile(
        latencies.map(({ introspections }) => introspections),
        PROMPT,
      ),
    ).toBeLessThanOrEqual(1);
  }, 400_000);
});

it('200 concurrent requests with one uncached token cost one NATS request, and later requests none', async () => {
  const { access_token } = await product.pair();
  const [replica] = product.replicas;
  if (!replica) throw new Error('there is no replica');
  const requests: unknown[] = [];
  const stop = product.hear('oauth.token.introspect', (message) => requests.push(message));
  await product.settled();
  const answers = await Promise.all(Array.from({ length: 200 }, () => product.me(replica, access_token)));
  for (let i = 0; i < 20; i++) await product.me(replica, access_token);
  await product.settled();
  stop();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(requests).toHaveLength(1);
});

// @rfc 7662 4
it('a flood of distinct forged tokens causes no Redis command and no new grants', async () => {
  const [replica] = product.replicas;
  if (!replica) throw new Error('there is no replica');
  const { access_token } = await product.pair();
  const commands: (readonly string[])[] = [];
  const endMonitor = await monitorRedis(product.redisUrl, (command) => commands.push(command));
  const forged = Array.from({ length: 500 }, (_, n) => {
    const at = 5 + (n % 80);
    return (
      access_token.slice(0, at) +
      (access_token[at] === 'A' ? 'B' : 'A') +
      n.toString(36).padStart(4, '_') +
      access_token.slice(at + 5)
    );
  });
  const before = await product.sql('SELECT count(*) FROM grants');
  const answers = await Promise.all(forged.map((token) => product.me(replica, token)));
  // The monitor receives commands in order, so this command marks the end of the flood.
  await product.redis.set('the-end', '1');
  while (!commands.some((command) => command.includes('the-end'))) await product.redis.ping();
  endMonitor();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  // The token app applies recent revocations again in the background; those scripts ask Redis for its time.
  const expected = /^(ping|set|info|select|time)$/i;
  const revoked = (await product.sql('SELECT id FROM grants WHERE revoked_at IS NOT NULL')) as {
    id: string;
  }[];
  const keys = new Set(revoked.map(({ id }) => `grant:${id}`));
  const ofTheFlood = commands.filter((command) => !command.some((word) => keys.has(word)));
  expect(ofTheFlood.filter(([name]) => !expected.test(name ?? ''))).toEqual([]);
  expect(await product.sql('SELECT count(*) FROM grants')).toEqual(before);
});
