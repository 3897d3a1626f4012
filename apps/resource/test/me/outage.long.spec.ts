import { setTimeout as sleep } from 'node:timers/promises';
import type { AppProcess } from '#test/support/app-process.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { type Answer, type Replicas, startReplicas } from '../support/start-resource-app.js';
import type { Pair } from '#test/support/tokens.js';

const PATIENCE_MS = 60_000;

let nats: RestartableNats;
let product: Replicas;
let replica: AppProcess;

beforeAll(async () => {
  nats = await RestartableNats.start();
  product = await startReplicas(1, nats.url);
  [replica] = product.replicas as [AppProcess];
});

afterAll(async () => {
  nats.wake();
  await product.close();
  await nats.stop();
});

const me = ({ access_token }: Pair): Promise<Answer> => product.me(replica, access_token);

async function cachedPair(): Promise<Pair> {
  const pair = await product.pair();
  expect((await me(pair)).status).toBe(200);
  return pair;
}

async function lookups(result: 'miss' | 'untrusted'): Promise<number> {
  const metrics = await (await fetch(`${replica.internalUrl}/metrics`)).text();
  const [line = ''] = metrics
    .split('\n')
    .filter((text) =>
      ['oauth_cache_lookups_total{', 'cache="tokens"', `result="${result}"`].every((part) =>
        text.includes(part),
      ),
    );
  return Number(line.slice(line.lastIndexOf(' ')));
}

async function until(status: number, pair: Pair): Promise<{ answers: Answer[] }> {
  const start = performance.now();
  const answers: Answer[] = [];
  for (;;) {
    const answer = await me(pair);
    answers.push(answer);
    if (answer.status === status) return { answers };
    if (performance.now() - start > PATIENCE_MS)
      throw new Error(`no ${status} within ${PATIENCE_MS} ms, the last answer was ${answer.status}`);
    await sleep(25);
  }
}

const statuses = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];

describe.each([
  ['NATS is killed', () => nats.kill(), () => nats.restart()],
  ['NATS hangs with its connections open', async () => nats.sleep(), async () => nats.wake()],
])('the resource app when %s', (_case, stop, restore) => {
  // @rfc 7662 4 @reliability nats-long
  it('stops using its cache, and refuses revoked tokens after the recovery of NATS', async () => {
    const [kept, revoked] = [await cachedPair(), await cachedPair()];
    const before = { missed: await lookups('miss'), untrusted: await lookups('untrusted') };
    await stop();

    const { answers } = await until(503, kept);
    expect(statuses(answers.slice(0, -1))).toEqual([200]);
    // The first refusal may come from the profile cache, which is read after the token cache.
    const refusal = await me(kept);
    expect(refusal.headers['retry-after']).toMatch(/^\d+$/);
    const message = expect.stringContaining('the token cannot be checked right now') as unknown;
    expect(refusal.body).toMatchObject({ status: 'error', error: { code: 'SERVICE_UNAVAILABLE', message } });
    expect(await lookups('miss')).toBe(before.missed);
    expect(await lookups('untrusted')).toBeGreaterThan(before.untrusted);
    // The app refuses tokens without waiting for a timeout.
    const times: number[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      const started = performance.now();
      expect((await me(revoked)).status).toBe(503);
      times.push(performance.now() - started);
    }
    expect(Math.min(...times)).toBeLessThan(PATIENT_MS);

    // The token app revokes the token without NATS, but its broadcast is lost.
    expect((await product.revoke(revoked.refresh_token)).status).toBe(200);
    await restore();

    const back = await until(200, kept);
    expect(statuses(back.answers.slice(0, -1)).filter((status) => status !== 503)).toEqual([]);
    expect((await me(revoked)).status).toBe(401);
  });
});

describe('the resource app after a short outage of NATS', () => {
  // @reliability nats-short
  it('answers requests with unknown tokens that arrived during the outage', async () => {
    const pairs = [await product.pair(), await product.pair(), await product.pair()];
    await nats.kill();
    const waiting = Promise.all(pairs.map(me));
    await nats.restart();
    expect((await waiting).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('refuses a token that was revoked during the outage', async () => {
    const [kept, revoked] = [await cachedPair(), await cachedPair()];
    await nats.kill();
    const killed = performance.now();
    // The broadcast is lost. The cache may be used for 5 s, but a slow machine may take longer.
    const [revocation, use] = await Promise.all([product.revoke(revoked.refresh_token), me(kept)]);
    expect(revocation.status).toBe(200);
    expect(use.status === 200 || performance.now() - killed > 2_000).toBe(true);
    const unknown = await product.pair();
    await nats.restart();
    await until(200, unknown);
    expect((await me(revoked)).status).toBe(401);
    expect((await me(kept)).status).toBe(200);
  });
});
