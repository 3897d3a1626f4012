import { type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { DpopKey } from '#test/support/keys.js';
import { APIS, KNOWN_RESOURCES, UNKNOWN_RESOURCES } from '#test/support/resources.js';
import { storedGrant } from '#test/support/stored.js';
import type { Pair } from '#test/support/tokens.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp(APIS);

describe('audience', () => {
  const API = 'https://api.example.com';
  const BOOKINGS = 'https://bookings.example.com:8443';
  const BOTH = [API, BOOKINGS];

  async function audienceOf(token: string, jkt?: string): Promise<readonly string[] | undefined> {
    const reply = await app.ask<IntrospectionReply>(SUBJECTS.introspect, { token, ...(jkt && { jkt }) });
    if (!reply.active) throw new Error('inactive');
    return reply.aud;
  }

  const restricted = (resources = BOTH.join(' ')) => app.ourCode({ resources });
  const redeem = async (code: string, resource?: string | readonly string[]) =>
    app.post('token', { ...app.redemption(code), ...(resource && { resource }) });
  const refresh = async (token: string, resource?: string | readonly string[], path = 'token') =>
    app.post(path, {
      grant_type: 'refresh_token',
      refresh_token: token,
      ...app.ours,
      ...(resource && { resource }),
    });
  const pairOf = (answer: { readonly status: number; readonly body: unknown }): Pair => {
    expect(answer.status).toBe(200);
    return answer.body as Pair;
  };

  // @rfc 8707 2.2
  describe('a code for several APIs (RFC 8707 2.2)', () => {
    it('returns an access token for all of its APIs if the request names no API', async () => {
      expect(await audienceOf(pairOf(await redeem(await restricted())).access_token)).toEqual(BOTH);
    });

    it.each<[string, string | string[], string[]]>([
      ['one of its APIs', BOOKINGS, [BOOKINGS]],
      ['an address of one of its APIs', `${API}/v2/me?x=1`, [API]],
      ['both APIs, in any order', [`${BOOKINGS}/`, API], BOTH],
      ['an API that is named twice', [API, `${API}/v2`], [API]],
    ])('returns an access token for %s', async (_, resource, audience) => {
      expect(await audienceOf(pairOf(await redeem(await restricted(), resource)).access_token)).toEqual(
        audience,
      );
    });

    it('permits each refresh to name any of its APIs', async () => {
      let pair = pairOf(await redeem(await restricted(), API));
      for (const [path, resource, audience] of [
        ['token', BOOKINGS, [BOOKINGS]],
        ['refreshToken', API, [API]],
        ['refreshToken', undefined, BOTH],
        ['token', BOTH, BOTH],
      ] as const) {
        pair = pairOf(await refresh(pair.refresh_token, resource, path));
        expect(await audienceOf(pair.access_token)).toEqual(audience);
      }
    });

    it('is refused with invalid_target for another API, but remains valid', async () => {
      const code = await restricted(API);
      for (const resource of [BOOKINGS, BOTH])
        expectStandardError(await redeem(code, resource), 400, 'invalid_target');
      const pair = pairOf(await redeem(code));
      for (const path of ['token', 'refreshToken'])
        for (const resource of [BOOKINGS, BOTH])
          expectStandardError(await refresh(pair.refresh_token, resource, path), 400, 'invalid_target');
      const next = pairOf(await refresh(pair.refresh_token));
      expect(await audienceOf(next.access_token)).toEqual([API]);
      // A retry that names another API is also refused.
      expectStandardError(await refresh(pair.refresh_token, BOOKINGS), 400, 'invalid_target');
      expect(pairOf(await refresh(next.refresh_token))).toBeDefined();
    });

    it('is refused for another client or a wrong verifier before its APIs are compared', async () => {
      const other = { ...app.redemption(await restricted(API)), ...(await app.client()), resource: BOOKINGS };
      expectStandardError(await app.post('token', other), 400, 'invalid_grant');
      const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
      const code = app.redemption(await app.ourCode({ resources: API, challenge }));
      const wrong = { ...code, code_verifier: 'x'.repeat(43), resource: BOOKINGS };
      expectStandardError(await app.post('token', wrong), 400, 'invalid_grant');
    });
  });

  describe('a retry of a refresh', () => {
    it('gets the same tokens for the same APIs, in any spelling and order', async () => {
      const { refresh_token } = pairOf(await redeem(await restricted()));
      const first = pairOf(await refresh(refresh_token, BOTH));
      for (const resource of [undefined, [`${BOOKINGS}/x`, `${API}/y`], [...BOTH, API]])
        expect(pairOf(await refresh(refresh_token, resource))).toMatchObject({
          access_token: first.access_token,
          refresh_token: first.refresh_token,
        });
    });

    it('may name other APIs, and gets the same refresh token', async () => {
      const { refresh_token } = pairOf(await redeem(await restricted()));
      const requested = Array.from({ length: 12 }, (_, n) => [undefined, API, BOOKINGS][n % 3]);
      const pairs = await Promise.all(
        requested.map(async (resource) => pairOf(await refresh(refresh_token, resource))),
      );
      expect(new Set(pairs.map((pair) => pair.refresh_token)).size).toBe(1);
      for (const [n, pair] of pairs.entries())
        expect(await audienceOf(pair.access_token)).toEqual(requested[n] ? [requested[n]] : BOTH);
    });
  });

  describe('a grant whose authorization request named no API', () => {
    it('has tokens without an audience, and stores no resources', async () => {
      const pair = await app.pair();
      expect(pair.access_token).toMatch(/^sat_[\w-]{84}$/);
      expect(await audienceOf(pair.access_token)).toBeUndefined();
      const stored = await storedGrant(app.redis, app.grantIdOf(pair.access_token));
      expect(Object.keys(stored).toSorted()).toEqual([
        'client',
        'generation',
        'rotatedAt',
        'scope',
        'status',
        'user',
      ]);
    });

    it('permits a token request to name an API, and does not change', async () => {
      const pair = pairOf(await redeem(await app.ourCode(), API));
      expect(await audienceOf(pair.access_token)).toEqual([API]);
      const narrow = pairOf(await refresh(pair.refresh_token, BOOKINGS));
      expect(await audienceOf(narrow.access_token)).toEqual([BOOKINGS]);
      expect(await audienceOf(pairOf(await refresh(narrow.refresh_token)).access_token)).toBeUndefined();
    });
  });

  describe('a token that is bound to a key (RFC 9449)', () => {
    it('has an audience, like a bearer token', async () => {
      const key = await DpopKey.generate();
      const proof = () => key.proof('POST', 'https://base.example.com/api/auth/oauth/token');
      const code = app.redemption(await restricted());
      const pair = pairOf(await app.post('token', { ...code, resource: API }).set('DPoP', await proof()));
      expect(await audienceOf(pair.access_token, key.jkt)).toEqual([API]);
      const refreshBody = { grant_type: 'refresh_token', refresh_token: pair.refresh_token, ...app.ours };
      const next = pairOf(await app.post('token', refreshBody).set('DPoP', await proof()));
      expect(await audienceOf(next.access_token, key.jkt)).toEqual(BOTH);
    });
  });

  describe('the token app after the loss of a grant in Redis', () => {
    it('restores the APIs of the grant from PostgreSQL, and reads the audience from the token', async () => {
      const pair = pairOf(await redeem(await restricted(API)));
      await app.redis.flushdb();
      expect(await audienceOf(pair.access_token)).toEqual([API]);
      await app.redis.flushdb();
      expectStandardError(await refresh(pair.refresh_token, BOOKINGS), 400, 'invalid_target');
      await app.redis.flushdb();
      expect(await audienceOf(pairOf(await refresh(pair.refresh_token)).access_token)).toEqual([API]);
    });

    it("restores the user's id in the product from PostgreSQL", async () => {
      const userId = await app.user('ada-1815');
      const code = await app.code(app.ours.client_id, userId, { externalId: 'ada-1815' });
      const { access_token } = pairOf(await redeem(code));
      const described = async () => app.ask(SUBJECTS.introspect, { token: access_token });
      const expected = { sub: String(userId), external_id: 'ada-1815' };
      expect(await described()).toMatchObject(expected);
      await app.redis.flushdb();
      expect(await described()).toMatchObject(expected);
    });
  });

  it('the token app uses the audience of the grant for tokens that an earlier version issued without an audience', async () => {
    const { access_token } = pairOf(await redeem(await restricted(API)));
    const token = app.codec.decode(access_token);
    if (!token) throw new Error('not a token');
    expect(await audienceOf(app.codec.encode({ ...token, audience: null }))).toEqual([API]);
  });

  // @rfc 7662 2.2
  it('introspection over HTTP returns the audience and the id of the user in the product (RFC 7662 2.2)', async () => {
    const { secret, hash } = generateClientSecret();
    const { id } = await app.resourceServers.create('Bookings API', hash);
    const server = { client_id: id, client_secret: secret };
    const described = async (token: string) =>
      (await app.post('introspect', { token, ...server })).body as object;
    const code = await app.code(app.ours.client_id, await app.user('ada-1816'), {
      resources: BOTH.join(' '),
      externalId: 'ada-1816',
    });
    const pair = pairOf(await redeem(code, BOOKINGS));
    expect(await described(pair.access_token)).toMatchObject({
      active: true,
      aud: [BOOKINGS],
      external_id: 'ada-1816',
    });
    const next = pairOf(await refresh(pair.refresh_token));
    expect(await described(next.access_token)).toMatchObject({ aud: BOTH });
    const plain = await described((await app.pair()).access_token);
    expect(plain).toMatchObject({ active: true });
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(['aud']));
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(['external_id']));
  });
});

describe('resource', () => {
  const encoded = (parameters: object) => new URLSearchParams({ ...parameters }).toString();
  const refresh = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token, ...app.ours });

  describe('resource indicators (RFC 8707 2.2)', () => {
    // @rfc 8707 2 @rfc 8707 2.2
    it.each(KNOWN_RESOURCES)(
      'are accepted by the code exchange and by the refresh: %s',
      async (_name, resource) => {
        const code = app.redemption(await app.ourCode());
        const exchanged = await app.post('token', `${encoded(code)}&${resource}`);
        expect([exchanged.status, exchanged.body.scope]).toEqual([200, 'profile:read']);
        let pair = exchanged.body as Pair;
        for (const path of ['token', 'refreshToken']) {
          const answer = await app.post(path, `${encoded(refresh(pair.refresh_token))}&${resource}`);
          expect([path, answer.status]).toEqual([path, 200]);
          pair = answer.body as Pair;
        }
      },
    );

    // @rfc 8707 2
    it.each(UNKNOWN_RESOURCES)(
      'are refused with invalid_target, and leave the code and the refresh token valid: %s',
      async (_name, resource) => {
        const code = app.redemption(await app.ourCode());
        const refused = await app.post('token', `${encoded(code)}&${resource}`);
        expectStandardError(refused, 400, 'invalid_target');
        expect(refused.body.error_description).toContain('https://api.example.com');
        const { refresh_token } = (await app.post('token', code).expect(200)).body as Pair;
        for (const path of ['token', 'refreshToken'])
          expectStandardError(
            await app.post(path, `${encoded(refresh(refresh_token))}&${resource}`),
            400,
            'invalid_target',
          );
        await app.post('refreshToken', refresh(refresh_token)).expect(200);
      },
    );

    it('must be a string or a list of strings in JSON', async () => {
      const [known, other] = ['https://api.example.com', 'https://other.example.com'];
      const code = app.redemption(await app.ourCode());
      for (const resource of [other, [other], [known, other], [known, 7], [[known]], {}, 7, true])
        expectStandardError(await app.post('token', { ...code, resource }), 400, 'invalid_target');
      await app.post('token', { ...code, resource: [known, known] }).expect(200);
    });

    it('are checked only after the client is authenticated', async () => {
      const code = app.redemption(await app.ourCode());
      const answer = await app.post('token', {
        ...code,
        client_secret: 'wrong',
        resource: 'https://other.example.com',
      });
      expectStandardError(answer, 401, 'invalid_client');
    });
  });
});
