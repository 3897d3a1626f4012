import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { GrantStore } from '#grants/grant.store.js';
import { DEFAULT_LIFETIMES, grantTtl } from '#grants/lifetimes.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { startTokenProcess, type TokenProcess } from '#test/support/token-process.js';
import type { Pair } from '#test/support/tokens.js';

const CLIENTS = 12;
const WIPES = 40;
/** Number of refreshes, or of responses if refreshes fail, after which Redis is flushed. */
const REFRESHES = 3;
const ANSWERS = 10 * CLIENTS;

let app: TokenProcess;
/** Connection for revocations; another connection flushes Redis. */
let redis: Redis;

beforeAll(async () => {
  app = await startTokenProcess();
  redis = app.redis.duplicate();
});

afterAll(async () => {
  redis.disconnect();
  await app.close();
});

const post = (body: object): Promise<Response> =>
  fetch(`${app.url}/api/auth/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...app.ours }),
  });

const refresh = (token: string): Promise<Response> =>
  post({ grant_type: 'refresh_token', refresh_token: token });

/** Returns undefined after an error or a timeout. */
const introspect = (token: string) =>
  app.ask<{ active: boolean } | undefined>('oauth.token.introspect', { token }).catch(() => undefined);

async function pair(): Promise<Pair> {
  const code = await app.code(app.ours.client_id, app.userId);
  const answer = await post({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Pair;
}

/** Creates pairs sequentially, because this suite does not test concurrent connections. */
async function pairs(count: number): Promise<Pair[]> {
  const created: Pair[] = [];
  while (created.length < count) created.push(await pair());
  return created;
}

/** Simulates an honest client until `over` returns true. The client refreshes concurrently in two places. */
async function honest(first: Pair, over: () => boolean, count: Record<string, number>): Promise<Pair> {
  const counted = (what: string) => (count[what] = (count[what] ?? 0) + 1);
  let newest = first;
  while (!over()) {
    const [one, other] = await Promise.all([refresh(newest.refresh_token), refresh(newest.refresh_token)]);
    for (const answer of [one, other]) counted(`refresh ${answer.status}`);
    const answered = one.status === 200 ? one : other;
    if (answered.status === 200) newest = (await answered.json()) as Pair;
    const reply = await introspect(newest.access_token);
    counted(reply === undefined ? 'introspection failed' : reply.active ? 'active' : 'inactive');
  }
  return newest;
}

describe('a Redis that is flushed repeatedly under load', () => {
  // @reliability redis-empty
  it('does not log users out, and does not restore revoked tokens', async () => {
    const grants = new GrantStore(redis);
    const [revoked, doomed] = [await pairs(8), await pairs(8)];
    for (const { refresh_token } of revoked) await app.records.revoke(app.grantIdOf(refresh_token));
    // Redis does not contain the revocations. After the flush, the token app reads them from PostgreSQL.
    await app.redis.flushdb();

    const count: Record<string, number> = {};
    const refreshes = () => count['refresh 200'] ?? 0;
    const answers = () => Object.values(count).reduce((sum, each) => sum + each, 0);
    let wipes = 0;
    const over = () => wipes >= WIPES;
    const wiping = async () => {
      while (!over()) {
        await app.redis.flushdb();
        wipes += 1;
        const [enough, atMost] = [refreshes() + REFRESHES, answers() + ANSWERS];
        while (!over() && refreshes() < enough && answers() < atMost) await sleep(1);
      }
    };
    const refusing = async (tokens: Pair[]) => {
      const live: string[] = [];
      for (let n = 0; !over(); n++) {
        const { refresh_token, access_token } = tokens[n % tokens.length] as Pair;
        if ((await introspect(access_token))?.active) live.push(`introspection ${n}`);
        if ((await refresh(refresh_token)).status === 200) live.push(`refresh ${n}`);
      }
      return live;
    };
    // Revokes grants under load, in PostgreSQL and then in Redis. Tokens of a revoked grant must be refused.
    const revoking = async () => {
      const live: string[] = [];
      for (const { refresh_token, access_token } of doomed) {
        const begun = wipes;
        const isDue = () => wipes - begun >= 5 || over();
        while (!isDue()) await sleep(5);
        const busy = Array.from({ length: 3 }, () => introspect(access_token));
        const id = app.grantIdOf(refresh_token);
        await app.records.revoke(id);
        await grants.revoke(id, grantTtl(DEFAULT_LIFETIMES));
        if ((await introspect(access_token))?.active) live.push(id);
        await Promise.all(busy);
        if ((await refresh(refresh_token)).status === 200) live.push(id);
      }
      return live;
    };
    const clients = await pairs(CLIENTS);
    const [, revivedEarlier, revivedLater, newest] = await Promise.all([
      wiping(),
      refusing(revoked),
      revoking(),
      Promise.all(clients.map((first) => honest(first, over, count))),
    ]);

    expect({ revivedEarlier, revivedLater }).toEqual({ revivedEarlier: [], revivedLater: [] });
    const refusals = Object.keys(count).filter(
      (what) => !['refresh 200', 'refresh 503', 'active', 'introspection failed'].includes(what),
    );
    expect(refusals).toEqual([]);
    expect(refreshes()).toBeGreaterThan(WIPES);
    for (const { refresh_token } of newest) expect((await refresh(refresh_token)).status).toBe(200);
    for (const { refresh_token } of [...revoked, ...doomed])
      expect((await refresh(refresh_token)).status).toBe(400);
    // The timeout ends a hang. The test takes 2 s on an idle machine and longer on a busy machine.
  }, 600_000);
});
