import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { DpopKey } from '../support/keys.js';
import { REDIRECT_URI } from '../support/fixture.js';
import { findLibraries, reportSkipped } from '../support/foreign-library.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { startTokenProcess, type TokenProcess } from '../support/token-process.js';
import { until } from '../support/until.js';
import {
  buildExample,
  type BuiltExample,
  EXAMPLES,
  IntrospectionProxy,
  type RunningExample,
} from './example-api.js';

const BOTH_SCOPES = 'bookings:read bookings:write';
/** Cache lifetime in seconds, longer than any test, so that no entry reaches it. */
const LONG = '3600';
const API_URL = 'https://bookings.example.com';

/** Found before the tests are declared, because the test names contain the versions. */
const found = await findLibraries(EXAMPLES.map(({ library }) => library));

let token: TokenProcess;
let introspection: IntrospectionProxy;
let nats: FaultProxy;
let credentials: { RESOURCE_SERVER_ID: string; RESOURCE_SERVER_SECRET: string };

beforeAll(async () => {
  token = await startTokenProcess();
  introspection = await IntrospectionProxy.to(`${token.url}/api/auth/oauth/introspect`);
  nats = await FaultProxy.start(token.natsUrl);
  const { secret, hash } = generateClientSecret();
  const { id } = await token.resourceServers.create('Bookings API', hash);
  credentials = { RESOURCE_SERVER_ID: id, RESOURCE_SERVER_SECRET: secret };
});

afterAll(async () => {
  introspection.close();
  nats.close();
  await token.close();
});

const post = async (endpoint: string, fields: Record<string, string>, headers = {}): Promise<Response> =>
  fetch(`${token.url}/api/auth/oauth/${endpoint}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ ...fields, ...token.ours }),
  });

async function accessToken(scope = BOTH_SCOPES, headers = {}): Promise<string> {
  const code = await token.code(token.ours.client_id, token.userId, { scope });
  const redemption = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  const answer = await post('token', redemption, headers);
  const { access_token: accessToken } = (await answer.json()) as { access_token: string };
  return accessToken;
}

const revoke = (accessToken: string) => post('revoke', { token: accessToken });

function expired(accessToken: string): string {
  const decoded = token.codec.decode(accessToken);
  if (!decoded) throw new Error('not a token');
  return token.codec.encode({ ...decoded, expiry: Math.floor(Date.now() / 1000) - 60 });
}

for (const [index, example] of EXAMPLES.entries()) {
  const library = found[index]!;
  if ('missing' in library) {
    reportSkipped(example.name, library);
    continue;
  }

  describe(`the example API in ${example.name} (${library.version})`, () => {
    let built: BuiltExample;
    let api: RunningExample;

    const start = (settings: Record<string, string> = {}) =>
      built.run({ ...credentials, API_URL, INTROSPECTION_URL: introspection.url, ...settings });
    const get = (authorization?: string, { url } = api) =>
      fetch(url, { headers: authorization === undefined ? {} : { Authorization: authorization } });
    const status = async (accessToken: string, running = api) =>
      (await get(`Bearer ${accessToken}`, running)).status;
    const cost = async (accessToken: string, running = api) => {
      const before = introspection.requests;
      expect(await status(accessToken, running)).toBe(200);
      return introspection.requests - before;
    };
    const cached = (accessToken: string, running = api) =>
      until('the answer is cached', 20_000, async () => (await cost(accessToken, running)) === 0);

    beforeAll(async () => {
      built = await buildExample(example, library);
      api = await start({ NATS_URL: nats.url, CACHE_SECONDS: LONG });
    });

    afterEach(() => {
      introspection.instead = undefined;
    });

    afterAll(async () => {
      await api.stop();
      await built.remove();
    });

    // @rfc 7662 2.2 @rfc 6750 2.1
    it('accepts a valid token at both endpoints', async () => {
      const valid = await accessToken();
      const booked = await fetch(api.url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${valid}`, 'Content-Type': 'application/json' },
        body: '{"title":"Tea"}',
      });
      expect([booked.status, await booked.json()]).toEqual([201, { title: 'Tea' }]);
      // RFC 9110 11.1: the scheme is case-insensitive; 11.4: one or more spaces follow it.
      const listed = await get(`bearer  ${valid}`);
      expect([listed.status, await listed.json()]).toEqual([
        200,
        { user_id: String(token.userId), bookings: ['Tea'] },
      ]);
    });

    // @rfc 6750 3 @rfc 6750 3.1
    it('rejects an invalid bearer token with the error of RFC 6750 3.1', async () => {
      const valid = await accessToken();
      const invalid = 'Bearer realm="bookings", error="invalid_token"';
      const cases: [string | undefined, string][] = [
        [undefined, 'Bearer realm="bookings"'],
        ['Basic eDp5', 'Bearer realm="bookings"'],
        ['Bearer x', invalid],
        [`Bearer sat_${randomBytes(63).toString('base64url')}`, invalid],
        [`Bearer ${expired(valid)}`, invalid],
      ];
      for (const [authorization, challenge] of cases) {
        const answer = await get(authorization);
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge]);
      }
    });

    // @rfc 6750 3.1
    it('responds with 403 and the scope that the token lacks', async () => {
      const answer = await get(`Bearer ${await accessToken('bookings:write')}`);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer realm="bookings", error="insufficient_scope", scope="bookings:read"',
      ]);
      const reader = await accessToken('bookings:read');
      const headers = { Authorization: `Bearer ${reader}`, 'Content-Type': 'application/json' };
      expect((await fetch(api.url, { method: 'POST', headers, body: '{"title":"Tea"}' })).status).toBe(403);
    });

    // @rfc 9449 7.2
    it('rejects a token that is bound to a key', async () => {
      const key = await DpopKey.generate();
      const proof = await key.proof('POST', 'https://base.example.com/api/auth/oauth/token');
      const bound = await accessToken(BOTH_SCOPES, { DPoP: proof });
      expect(await status(bound)).toBe(401);
    });

    // @rfc 8707 2
    it('rejects a token for other APIs', async () => {
      const answer = { active: true, sub: '1', client_id: 'sc_1', grant_id: 'g1', scope: BOTH_SCOPES };
      const exp = Math.floor(Date.now() / 1000) + 600;
      const tokenFor = async (aud: string[]) => {
        introspection.instead = { status: 200, body: JSON.stringify({ ...answer, exp, aud }) };
        return status(randomBytes(16).toString('hex'));
      };
      expect(await tokenFor(['https://files.example.com'])).toBe(401);
      expect(await tokenFor([])).toBe(401);
      expect(await tokenFor(['https://files.example.com', API_URL])).toBe(200);
    });

    it('introspects a repeated token only once', async () => {
      const valid = await accessToken();
      await cached(valid);
      expect(await cost(valid)).toBe(0);
    });

    // @rfc 7662 4
    it('rejects a cached token immediately after its grant is revoked', async () => {
      const [revoked, other] = [await accessToken(), await accessToken()];
      await cached(revoked);
      await cached(other);
      await revoke(revoked);
      await until('the token is refused', 30_000, async () => (await status(revoked)) === 401);
      expect(await cost(other)).toBe(0);
    });

    it.each([
      ['client', () => ['oauth.client.changed', { client_id: token.ours.client_id }] as const],
      ['user', () => ['oauth.user.changed', { user_id: token.userId }] as const],
      ['unreadable', () => ['oauth.grant.revoked', { grant: 7 }] as const],
    ])('introspects a cached token again after a broadcast: %s', async (_what, broadcast) => {
      const valid = await accessToken();
      await cached(valid);
      const [subject, event] = broadcast();
      await token.announce(subject, event);
      await until('it asks anew', 30_000, async () => (await cost(valid)) === 1);
      await token.announce('oauth.client.changed', { client_id: 'sc_another' });
      await token.announce('oauth.user.changed', { user_id: token.userId + 1 });
      await sleep(500);
      await cost(valid);
      expect(await cost(valid)).toBe(0);
    });

    it('empties its cache at most once per second, however many unreadable broadcasts arrive', async () => {
      const valid = await accessToken();
      await cached(valid);
      const began = performance.now();
      let requests = 0;
      for (let n = 0; n < 100; n++) {
        await token.announce('oauth.grant.revoked', { grant: 7 });
        requests += await cost(valid);
      }
      expect(requests).toBeLessThanOrEqual(1 + (performance.now() - began) / 1_000);
      await token.announce('oauth.grant.revoked', { grant: 7 });
      await until('it asks anew', 30_000, async () => (await cost(valid)) === 1);
    });

    it('does not use its cache while it cannot receive broadcasts, and empties the cache afterwards', async () => {
      const [revoked, other] = [await accessToken(), await accessToken()];
      await cached(revoked);
      await cached(other);
      nats.silence('all');
      await revoke(revoked);
      await until('the token is refused', 30_000, async () => (await status(revoked)) === 401);
      expect(await cost(other)).toBe(1);
      expect(await cost(other)).toBe(1);
      nats.reconnect();
      nats.cut();
      await cached(other);
      expect(await status(revoked)).toBe(401);
    });

    // @rfc 7662 4
    it('responds with 503 if it cannot introspect a token', async () => {
      const [known, unknown] = [await accessToken(), await accessToken()];
      await cached(known);
      const failures = [
        { status: 500, body: '{}' },
        { status: 401, body: '{"error":"invalid_client"}' },
        { status: 200, body: 'oops' },
        { status: 200, body: '{"active":true}' },
        'silence' as const,
      ];
      for (const failure of failures) {
        introspection.instead = failure;
        const answer = await get(`Bearer ${unknown}`);
        expect([failure, answer.status, answer.headers.get('retry-after')]).toEqual([failure, 503, '1']);
      }
      expect(await status(known)).toBe(200);
      introspection.instead = undefined;
      expect(await status(unknown)).toBe(200);
    });

    it('rejects a revoked token after the cache lifetime if it has no revocation feed', async () => {
      const alone = await start({ CACHE_SECONDS: '2' });
      try {
        const revoked = await accessToken();
        await cached(revoked, alone);
        await revoke(revoked);
        await until('the token is refused', 30_000, async () => (await status(revoked, alone)) === 401);
      } finally {
        await alone.stop();
      }
    });

    it('rejects a cached token after its expiry', async () => {
      const valid = token.codec.decode(await accessToken());
      if (!valid) throw new Error('not a token');
      const short = token.codec.encode({ ...valid, expiry: Math.floor(Date.now() / 1000) + 10 });
      await cached(short);
      await until('the token is refused', 30_000, async () => (await status(short)) === 401);
    });

    it('logs no token and no secret', async () => {
      expect(api.output()).not.toMatch(/sat_|scs_/);
    });
  });
}
