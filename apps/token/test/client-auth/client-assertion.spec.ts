import request from 'supertest';
import { generateKeyPairSync } from 'node:crypto';
import { ASSERTION_ALGORITHMS } from '#oauth/client-assertion/client-keys.js';
import { SUBJECTS } from '#messaging/contract.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/keys.js';
import { monitorRedis } from '#test/support/redis-monitor.js';
import { until } from '#test/support/until.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { ISSUER, TOKEN_URL, useKeyClient } from '../support/use-key-client.js';
import type { Pair } from '#test/support/tokens.js';

const client = useKeyClient();
const { app } = client;
const anchorOf = ({ body }: { body: { error_uri?: string } }) => body.error_uri?.split('#')[1];
const refresh = async (refresh_token: string) =>
  app.post('token', { grant_type: 'refresh_token', refresh_token, ...(await client.credentials()) });

describe('a client with keys', () => {
  // @rfc 7523 2.2 @rfc 7521 4.2
  it.each(['application/json', 'application/x-www-form-urlencoded'])(
    'authenticates at the token endpoint without client_id: %s',
    async (type) => {
      const body = { ...(await client.exchange()), ...(await client.credentials()) };
      const answer = await app.post('token', body).type(type);
      expect([answer.status, answer.body.scope]).toEqual([200, 'profile:read']);
    },
  );

  it('may send its own client_id, but no other client_id', async () => {
    const body = { ...(await client.exchange()), ...(await client.credentials()) };
    const other = await app.post('token', { ...body, client_id: app.ours.client_id });
    expectStandardError(other, 400, 'invalid_request');
    expect(anchorOf(other)).toBe('client_id_mismatch');
    expect((await app.post('token', { ...body, client_id: client.clientId })).status).toBe(200);
  });

  it('authenticates at par, refreshToken and revoke with the issuer or the URL of the endpoint as audience', async () => {
    const answer = await app.post('token', { ...(await client.exchange()), ...(await client.credentials()) });
    const { refresh_token } = answer.body as Pair;
    const at = async (path: string, body: object, aud: unknown) =>
      (await app.post(path, { ...body, ...(await client.credentials({ claims: { aud } })) })).status;
    const endpoint = (path: string) => `${ISSUER}/api/auth/oauth/${path}`;
    const push = {
      redirect_uri: 'https://app.example.com/callback?tenant=7',
      state: 's',
      client_id: client.clientId,
    };
    for (const aud of [ISSUER, [ISSUER], TOKEN_URL, [ISSUER, TOKEN_URL]])
      expect(await at('par', push, aud)).toBe(201);
    expect(await at('par', push, endpoint('par'))).toBe(201);
    expect(await at('par', push, endpoint('revoke'))).toBe(401);
    const body = { grant_type: 'refresh_token', refresh_token };
    expect(await at('refreshToken', body, endpoint('refreshToken'))).toBe(200);
    expect(await at('revoke', { token: refresh_token }, endpoint('revoke'))).toBe(200);
  });

  it('may send the refresh token as Bearer at the refresh endpoint', async () => {
    const answer = await app.post('token', { ...(await client.exchange()), ...(await client.credentials()) });
    const refreshed = await request(app.server)
      .post('/api/auth/oauth/refreshToken')
      .auth((answer.body as Pair).refresh_token, { type: 'bearer' })
      .send({ grant_type: 'refresh_token', ...(await client.credentials()) });
    expect(refreshed.status).toBe(200);
  });

  it('gets the same tokens if it retries a refresh with a new assertion', async () => {
    const answer = await app.post('token', { ...(await client.exchange()), ...(await client.credentials()) });
    const { refresh_token } = answer.body as Pair;
    const [first, second] = [await refresh(refresh_token), await refresh(refresh_token)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((second.body as Pair).refresh_token).toBe((first.body as Pair).refresh_token);
  });

  it.each(ASSERTION_ALGORITHMS)('may sign with %s', async (alg) => {
    const key = await ClientKey.generate(alg);
    const clientId = await client.register(keysOf(key));
    const exchange = await client.exchange(clientId);
    const client_assertion = await key.assertion(clientId, ISSUER);
    const answer = await app.post('token', {
      ...exchange,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion,
    });
    expect([answer.status, answer.body.error_description]).toEqual([200, undefined]);
  });

  it('can use both keys during a rotation, but not the removed key afterwards', async () => {
    const [old, next] = [await ClientKey.generate(), await ClientKey.generate('PS256')];
    const clientId = await client.register(keysOf(old, next));
    const by = async (key: ClientKey, kid: string | null | undefined = key.jwk.kid) =>
      app.post('revoke', {
        token: 'sat_x',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await key.assertion(clientId, ISSUER, { header: { kid } }),
      });
    expect((await by(old)).status).toBe(200);
    expect((await by(next)).status).toBe(200);
    expect((await by(old, null)).status).toBe(200);
    await app.registrations.update(clientId, (current) => ({ ...current, ...keysOf(next) }));
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    await app.settled();
    expect((await by(next)).status).toBe(200);
    for (const kid of [old.jwk.kid, null, next.jwk.kid]) {
      const refused = await by(old, kid);
      expectStandardError(refused, 401, 'invalid_client');
      expect(anchorOf(refused)).toBe('client_assertion_key_mismatch');
    }
    // `explain` shows the key that the assertion named, and the registered keys.
    const [event] = await auditEvents(app.natsUrl, { types: ['request.refused'], clientId }, 3);
    expect(event).toMatchObject({
      check: 'client_assertion_key_unknown',
      detail: { sent: `${old.jwk.kid} (ES256)`, registered: [expect.stringContaining(String(next.jwk.kid))] },
    });
  });

  it('is refused with a secret or without a credential', async () => {
    const exchange = await client.exchange();
    const secret = { client_id: client.clientId, client_secret: 'scs_x' };
    const inBody = await app.post('token', { ...exchange, ...secret });
    const byBasic = await app.post('token', exchange).auth(client.clientId, 'scs_x');
    const nothing = await app.post('token', { ...exchange, client_id: client.clientId });
    for (const refused of [inBody, byBasic, nothing]) expectStandardError(refused, 401, 'invalid_client');
    expect([inBody, byBasic, nothing].map(anchorOf)).toEqual([
      'client_secret_forbidden',
      'client_secret_forbidden',
      'client_assertion_missing',
    ]);
    expect(byBasic.headers['www-authenticate']).toMatch(/^Basic/);
    expect((await app.post('token', { ...exchange, ...(await client.credentials()) })).status).toBe(200);
  });

  it('learns only after authentication that it is disabled', async () => {
    const key = await ClientKey.generate();
    const clientId = await client.register(keysOf(key));
    await app.registrations.setDisabled(clientId, true);
    const by = async (signer: ClientKey) =>
      anchorOf(
        await app.post('revoke', {
          token: 'sat_x',
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await signer.assertion(clientId, ISSUER, { header: { kid: key.jwk.kid } }),
        }),
      );
    expect(await by(key)).toBe('client_disabled');
    expect(await by(client.key)).toBe('client_assertion_key_mismatch');
  });
});

describe('an assertion', () => {
  const credentials = (settings = {}) => client.credentials(settings);
  const revoke = (body: object) => app.post('revoke', { token: 'sat_x', ...body });

  // @rfc 7523 3
  it('is accepted only once, even by concurrent requests', async () => {
    const assertion = await credentials();
    const answers = await Promise.all(Array.from({ length: 8 }, () => revoke(assertion)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectStandardError(answer, 401, 'invalid_client');
      expect(anchorOf(answer)).toBe('client_assertion_replayed');
    }
  });

  it('is not consumed by a request that fails an earlier check', async () => {
    const assertion = await credentials();
    expect((await revoke({ ...assertion, client_secret: 'scs_x' })).status).toBe(400);
    expect((await revoke({ ...assertion, client_assertion_type: 'x' })).status).toBe(401);
    expect((await revoke(assertion)).status).toBe(200);
  });

  it('may have the same jti as an assertion of another client', async () => {
    const key = await ClientKey.generate();
    const clientId = await client.register(keysOf(key));
    const claims = { jti: 'the same' };
    expect((await revoke(await credentials({ claims }))).status).toBe(200);
    const client_assertion = await key.assertion(clientId, ISSUER, { claims });
    expect((await revoke({ client_assertion, client_assertion_type: ASSERTION_TYPE })).status).toBe(200);
  });

  it('is stored in one Redis key per client, which expires with the latest assertion', async () => {
    const key = await ClientKey.generate();
    const clientId = await client.register(keysOf(key));
    const before = await app.redis.keys('assertions:*');
    for (let count = 0; count < 3; count++)
      await revoke({
        client_assertion: await key.assertion(clientId, ISSUER),
        client_assertion_type: ASSERTION_TYPE,
      });
    const [added = '', ...others] = (await app.redis.keys('assertions:*')).filter(
      (name) => !before.includes(name),
    );
    expect(others).toEqual([]);
    expect(await app.redis.zcard(added)).toBe(3);
    const ttl = await app.redis.pttl(added);
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(65_000);
  });

  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  // @rfc 7523 3 @rfc 7521 4.2.1 @rfc 8725 3.9
  it.each<[string, string, () => object]>([
    ['without exp', 'expired', () => ({ claims: { exp: null } })],
    ['with a string as exp', 'expired', () => ({ claims: { exp: String(inSeconds(60)) } })],
    ['that has expired', 'expired', () => ({ claims: { exp: inSeconds(-10) } })],
    ['valid for eleven minutes', 'lifetime_exceeded', () => ({ claims: { exp: inSeconds(660) } })],
    ['valid forever', 'lifetime_exceeded', () => ({ claims: { exp: 1e300 } })],
    ['issued in the future', 'not_yet_valid', () => ({ claims: { iat: inSeconds(30) } })],
    ['not valid yet', 'not_yet_valid', () => ({ claims: { nbf: inSeconds(30) } })],
    ['without jti', 'jti_invalid', () => ({ claims: { jti: null } })],
    ['with a number as jti', 'jti_invalid', () => ({ claims: { jti: 7 } })],
    ['with a jti of 257 characters', 'jti_invalid', () => ({ claims: { jti: 'j'.repeat(257) } })],
    ['without aud', 'audience_mismatch', () => ({ claims: { aud: null } })],
    ['with an empty list as aud', 'audience_mismatch', () => ({ claims: { aud: [] } })],
    ['for another server', 'audience_mismatch', () => ({ claims: { aud: 'https://other.example.com' } })],
    [
      'for two servers',
      'audience_mismatch',
      () => ({ claims: { aud: [ISSUER, 'https://other.example.com'] } }),
    ],
    [
      'for the issuer with a slash at the end',
      'audience_mismatch',
      () => ({ claims: { aud: `${ISSUER}/` } }),
    ],
    ['with an object as aud', 'audience_mismatch', () => ({ claims: { aud: { [ISSUER]: true } } })],
    [
      'for another endpoint',
      'audience_mismatch',
      () => ({ claims: { aud: `${ISSUER}/api/auth/oauth/par` } }),
    ],
    ['of another issuer', 'issuer_mismatch', () => ({ claims: { iss: 'sc_other' } })],
    ['about another subject', 'issuer_mismatch', () => ({ claims: { sub: 'sc_other' } })],
    ['without sub', 'issuer_mismatch', () => ({ claims: { sub: null } })],
    ['with the typ of a proof', 'malformed', () => ({ header: { typ: 'dpop+jwt' } })],
    ['with jku', 'malformed', () => ({ header: { jku: 'https://evil.example.com' } })],
    ['with x5u', 'malformed', () => ({ header: { x5u: 'https://evil.example.com' } })],
    ['with jwk', 'malformed', () => ({ header: { jwk: client.key.jwk } })],
    ['with a number as kid', 'malformed', () => ({ header: { kid: 7 } })],
    ['with an unknown kid', 'key_mismatch', () => ({ header: { kid: '__proto__' } })],
    ['with a path as kid', 'key_mismatch', () => ({ header: { kid: '../../../dev/null' } })],
    ['with an empty kid', 'key_mismatch', () => ({ header: { kid: '' } })],
  ])('%s is refused: client_assertion_%s', async (_rule, check, settings) => {
    const answer = await revoke(await credentials(settings()));
    expectStandardError(answer, 401, 'invalid_client');
    expect(anchorOf(answer)).toBe(`client_assertion_${check}`);
  });

  // @rfc 7521 4.2 @rfc 6749 2.3
  it('is refused with another method of authentication', async () => {
    const assertion = await credentials();
    const answers = [
      await revoke({ ...assertion, client_secret: 'scs_x' }),
      await revoke(assertion).auth(client.clientId, 'scs_x'),
      await revoke(assertion).auth(client.clientId, ''),
    ];
    for (const answer of answers) {
      expectStandardError(answer, 400, 'invalid_request');
      expect(anchorOf(answer)).toBe('client_authentication_ambiguous');
    }
  });

  it.each<[string, () => Promise<object>]>([
    ['without its type', async () => ({ client_assertion: (await credentials())['client_assertion'] })],
    [
      'of the SAML type',
      async () => ({
        ...(await credentials()),
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
      }),
    ],
    ['of which only the type is sent', () => Promise.resolve({ client_assertion_type: ASSERTION_TYPE })],
  ])('%s is refused', async (_rule, body) => {
    const answer = await revoke(await body());
    expectStandardError(answer, 401, 'invalid_client');
    expect(anchorOf(answer)).toBe('client_assertion_type_unsupported');
  });

  it('of a client without keys is refused', async () => {
    const { client_id: publicClient } = await app.publicClient('com.example.app:/callback');
    for (const clientId of [app.ours.client_id, publicClient]) {
      const client_assertion = await client.key.assertion(clientId, ISSUER);
      const answer = await revoke({ client_assertion, client_assertion_type: ASSERTION_TYPE });
      expectStandardError(answer, 401, 'invalid_client');
      expect(anchorOf(answer)).toBe('client_assertion_unexpected');
    }
  });

  it('of an unknown client gets the same response as a wrong signature', async () => {
    const other = await ClientKey.generate();
    const refusalOf = async (clientId: string) => {
      const client_assertion = await other.assertion(clientId, ISSUER, {
        header: { kid: client.key.jwk.kid },
      });
      const { body, status } = await revoke({ client_assertion, client_assertion_type: ASSERTION_TYPE });
      return { status, error: body.error as string, description: body.error_description as string };
    };
    expect(await refusalOf('sc_unknown')).toEqual(await refusalOf(client.clientId));
  });
});

describe('the introspection endpoint', () => {
  // @rfc 7662 2.1
  it('authenticates a resource server with keys by an assertion, but not by a secret', async () => {
    const key = await ClientKey.generate('EdDSA');
    const { id } = await app.resourceServers.create('Bookings', keysOf(key));
    const introspect = (body: object) => app.post('introspect', { token: 'sat_x', ...body });
    const aud = `${ISSUER}/api/auth/oauth/introspect`;
    const assertion = async (audience: string) => ({
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await key.assertion(id, audience),
    });
    expect((await introspect(await assertion(ISSUER))).body).toEqual({ active: false });
    expect((await introspect(await assertion(aud))).body).toEqual({ active: false });
    const secret = await introspect({ client_id: id, client_secret: 'scs_x' });
    expectStandardError(secret, 401, 'invalid_client');
    expect(anchorOf(secret)).toBe('client_secret_forbidden');
    const asClient = await app.post('revoke', { token: 'sat_x', ...(await assertion(ISSUER)) });
    expectStandardError(asClient, 401, 'invalid_client');
  });

  it('refuses the assertion of a client', async () => {
    const answer = await app.post('introspect', { token: 'sat_x', ...(await client.credentials()) });
    expectStandardError(answer, 401, 'invalid_client');
  });
});

describe('a client with a secret', () => {
  it('authenticates without a Redis command', async () => {
    const commands: string[] = [];
    const stop = await monitorRedis(app.redisUrl, ([name = '']) => commands.push(name.toLowerCase()));
    await app.post('token', { grant_type: 'refresh_token', refresh_token: 'srt_x', ...app.ours });
    await app.redis.echo('end of the request');
    await until('the monitor hears the end', 5_000, () => commands.includes('echo'));
    stop();
    expect(commands.filter((name) => name !== 'echo' && name !== 'ping' && name !== 'info')).toEqual([]);
  });
});

it('a client cannot register an RSA key below 2048 bits or a key of an unsupported curve', () => {
  const jwkOf = (key: { export: (options: { format: 'jwk' }) => object }) => key.export({ format: 'jwk' });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  expect(() => keysOf({ jwk: jwkOf(weak.publicKey) } as ClientKey)).toThrow('modulus');
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  expect(() => keysOf({ jwk: jwkOf(curve.publicKey) } as ClientKey)).toThrow('type');
});
