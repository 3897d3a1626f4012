import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrantStore } from '#grants/grant.store.js';
import { DEFAULT_LIFETIMES, grantTtl } from '#grants/lifetimes.js';
import { type AppProcess, startApp } from '#testing/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#testing/fixture.js';
import { type Isolated, isolate } from '#testing/isolate.js';

const CLIENTS = 12;
const WIPES = 60;
/** Redis is emptied again after so many refreshes, or after a while when none succeeds. */
const ANSWERS = 6;
const PATIENCE_MS = 300;

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

let services: Isolated;
let fixture: Fixture;
let app: AppProcess;
let client: TestClient;
let userId: number;

beforeAll(async () => {
  services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  app = await startApp('token', {
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://base.example.com',
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    LOG_LEVEL: 'fatal',
    TOKEN_KEYS,
  });
  fixture = await openFixture(services, TOKEN_KEYS);
  [client, userId] = [await fixture.client(), await fixture.user()];
});

afterAll(async () => {
  await app.stop();
  await fixture.close();
  await services.close();
});

const post = (body: object): Promise<Response> =>
  fetch(`${app.url}/api/auth/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...client }),
  });

const refresh = (token: string): Promise<Response> =>
  post({ grant_type: 'refresh_token', refresh_token: token });

const introspect = (token: string) =>
  fixture.ask<{ active: boolean } | undefined>('oauth.token.introspect', { token });

async function pair(): Promise<Pair> {
  const code = await fixture.code(client.client_id, userId);
  const answer = await post({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
  return (await answer.json()) as Pair;
}

/** Until `over`, a client that does everything right: refreshes, in two places at once, and uses what it got. */
async function honest(first: Pair, over: () => boolean, count: Record<string, number>): Promise<Pair> {
  const counted = (what: string) => (count[what] = (count[what] ?? 0) + 1);
  let newest = first;
  while (!over()) {
    const [one, other] = await Promise.all([refresh(newest.refresh_token), refresh(newest.refresh_token)]);
    for (const answer of [one, other]) counted(`refresh ${answer.status}`);
    const answered = one.status === 200 ? one : other;
    // A 503 is mended by a retry.
    if (answered.status === 200) newest = (await answered.json()) as Pair;
    const reply = await introspect(newest.access_token);
    counted(reply === undefined ? 'introspection failed' : reply.active ? 'active' : 'inactive');
  }
  return newest;
}

describe('a Redis that is emptied again and again under load', () => {
  it('logs nobody out, and what was revoked stays refused', async () => {
    const grants = new GrantStore(fixture.redis.duplicate());
    const revoked = await Promise.all(Array.from({ length: 8 }, pair));
    const doomed = await Promise.all(Array.from({ length: 8 }, pair));
    for (const { refresh_token } of revoked) await fixture.records.revoke(fixture.grantIdOf(refresh_token));
    // Redis has not heard of it; from the first loss on PostgreSQL decides.
    await fixture.redis.flushdb();

    const count: Record<string, number> = {};
    let wipes = 0;
    const over = () => wipes >= WIPES;
    const wiping = async () => {
      while (!over()) {
        await fixture.redis.flushdb();
        wipes += 1;
        const [answered, since] = [count['refresh 200'] ?? 0, Date.now()];
        while ((count['refresh 200'] ?? 0) < answered + ANSWERS && Date.now() - since < PATIENCE_MS)
          await sleep(1);
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
    // Revoked while everything is in flight: durably, then in Redis; refused from the answer on.
    const revoking = async () => {
      const live: string[] = [];
      for (const { refresh_token, access_token } of doomed) {
        const begun = wipes;
        const isDue = () => wipes - begun >= 5 || over();
        while (!isDue()) await sleep(5);
        const busy = Array.from({ length: 3 }, () => introspect(access_token));
        const id = fixture.grantIdOf(refresh_token);
        await fixture.records.revoke(id);
        await grants.revoke(id, grantTtl(DEFAULT_LIFETIMES));
        if ((await introspect(access_token))?.active) live.push(id);
        await Promise.all(busy);
        if ((await refresh(refresh_token)).status === 200) live.push(id);
      }
      return live;
    };
    const clients = await Promise.all(Array.from({ length: CLIENTS }, pair));
    const [, alive, undead, newest] = await Promise.all([
      wiping(),
      refusing(revoked),
      revoking(),
      Promise.all(clients.map((first) => honest(first, over, count))),
    ]);

    expect({ alive, undead }).toEqual({ alive: [], undead: [] });
    const refusals = Object.keys(count).filter(
      (what) => !['refresh 200', 'refresh 503', 'active', 'introspection failed'].includes(what),
    );
    expect(refusals).toEqual([]);
    expect(count['refresh 200']).toBeGreaterThan(WIPES);
    for (const { refresh_token } of newest) expect((await refresh(refresh_token)).status).toBe(200);
    for (const { refresh_token } of [...revoked, ...doomed])
      expect((await refresh(refresh_token)).status).toBe(400);
  }, 60_000);
});
