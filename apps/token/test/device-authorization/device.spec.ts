import { randomInt } from 'node:crypto';
import request, { type Response } from 'supertest';
import { decodeJwt } from 'jose';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#keys/key-ring.js';
import { type DeviceRequest, UserCodeStore } from '#grants/user-code.store.js';
import { DEVICE_CODE, normalizeUserCode } from '#oauth/device-authorization.js';
import { DpopKey, ID_TOKEN_KEYS } from '#test/support/keys.js';
import { sessionIdFor } from '#oauth/openid/id-token.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { useTokenApp } from '../support/use-token-app.js';

describe('device', () => {
  const app = useTokenApp({ TRUSTED_PROXIES: 'loopback', API_URL: 'https://api.example.com' });

  let client: { readonly client_id: string };

  beforeAll(async () => {
    const { clientId } = await app.clients.create({
      name: 'Room display',
      type: 'public',
      scopes: ['profile:read', 'bookings:read'],
      redirectUris: [],
      deviceGrant: true,
    });
    client = { client_id: clientId };
  });

  const ENDPOINT = 'device_authorization';
  const ipv4 = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

  const start = (body: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    app
      .post(ENDPOINT, { ...client, ...body })
      .set({ 'X-Forwarded-For': ipv4(), ...headers })
      .then((answer) => answer);

  const poll = (
    deviceCode: unknown,
    headers: Record<string, string> = {},
    body: object = {},
  ): Promise<Response> =>
    app
      .post('token', { grant_type: DEVICE_CODE, device_code: deviceCode, ...client, ...body })
      .set(headers)
      .then((answer) => answer);

  async function requestOf(userCode: string): Promise<DeviceRequest> {
    const codes = new UserCodeStore(app.redis, KeyRing.parse(app.configuration.TOKEN_KEYS));
    const found = await codes.find(normalizeUserCode(userCode) ?? '', undefined, randomInt(2 ** 31));
    if (found.outcome !== 'found') throw new Error(found.outcome);
    return found.request;
  }

  async function approve(userCode: string): Promise<string> {
    const { grantId: id, clientId, scope, resources } = await requestOf(userCode);
    const grant = { clientId, userId: app.userId, scope, resources };
    await app.records.create({ id, ...grant, requestedScope: scope, expiresAt: new Date(Date.now() + 1e9) });
    await new GrantStore(app.redis).approve(id, { ...grant, externalId: null }, Date.now());
    return id;
  }

  describe('POST /device_authorization', () => {
    // @rfc 8628 3.2
    it('returns a device code, a user code, and the address of the page', async () => {
      const before = Date.now();
      const answer = await start(
        { scope: 'bookings:read', resource: 'https://api.example.com/x' },
        { 'X-Forwarded-For': '192.0.2.7' },
      );
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-store');
      const { user_code: userCode } = answer.body;
      const page = `${app.configuration.AUTH_URL}/auth/device`;
      expect(answer.body).toEqual({
        device_code: expect.stringMatching(/^sdc_[\w-]{84}$/),
        user_code: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/),
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: 900,
        interval: 5,
      });
      expect(await requestOf(userCode)).toEqual({
        grantId: app.grantIdOf(answer.body.device_code),
        clientId: client.client_id,
        scope: 'bookings:read',
        resources: 'https://api.example.com',
        address: '192.0.2.7',
      });
      const ttl = await app.redis.pttl(`grant:${app.grantIdOf(answer.body.device_code)}`);
      // The TTL is 900 s for the code plus 5 s for clock skew, minus the elapsed time.
      expect(ttl).toBeGreaterThan(904_000 - (Date.now() - before));
      expect(ttl).toBeLessThanOrEqual(905_000);
    });

    // @rfc 8628 3.1
    it.each([
      ['a client that is not registered for devices', async () => app.ours, 400, 'unauthorized_client'],
      [
        'a confidential client without its secret',
        async () => ({ client_id: app.ours.client_id }),
        401,
        'invalid_client',
      ],
      ['only unregistered scopes', async () => ({ scope: 'bookings:write phone' }), 400, 'invalid_scope'],
      ['an unknown API', async () => ({ resource: 'https://other.example' }), 400, 'invalid_target'],
    ])('refuses %s', async (_case, body, status, code) => {
      expectStandardError(await start(await body()), status, code);
    });

    it('limits the live codes of one address, and returns the time to wait', async () => {
      const from = { 'X-Forwarded-For': ipv4() };
      const answers = await Promise.all(Array.from({ length: 51 }, () => start({}, from)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).toHaveLength(1);
      expectStandardError(refused[0] as Response, 429, 'temporarily_unavailable');
      expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    });
  });

  describe('the poll of a device', () => {
    // @rfc 8628 3.5
    it('is pending until the user decides, and gets slow_down if it is too early', async () => {
      const { device_code: code } = (await start()).body;
      expectStandardError(await poll(code), 400, 'authorization_pending');
      expectStandardError(await poll(code), 400, 'slow_down');
      expect(await app.redis.hget(`grant:${app.grantIdOf(code)}`, 'interval')).toBe('10');
    });

    // @rfc 8628 3.4
    it('gets the same tokens until they are used, and then revokes the grant', async () => {
      const { device_code: code, user_code: userCode } = (await start()).body;
      expectStandardError(await poll(code), 400, 'authorization_pending');
      await approve(userCode);
      const answers = await Promise.all([poll(code), poll(code), poll(code)]);
      const [{ body }] = answers;
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(answers.map((answer) => answer.body.refresh_token)).size).toBe(1);
      expect(body).toMatchObject({
        token_type: 'Bearer',
        scope: 'profile:read',
        expires_in: expect.any(Number),
      });
      const { refresh_token } = body;
      const refreshed = await app.post('token', { grant_type: 'refresh_token', refresh_token, ...client });
      expect(refreshed.status).toBe(200);
      expectStandardError(await poll(code), 400, 'invalid_grant');
      expect((await poll(code)).body.error_description).toMatch(/has been revoked/);
      const again = { grant_type: 'refresh_token', refresh_token: refreshed.body.refresh_token, ...client };
      expectStandardError(await app.post('token', again), 400, 'invalid_grant');
    });

    // @rfc 8628 3.5
    it('is refused after the user has denied access or removed it', async () => {
      const [denied, removed] = [(await start()).body, (await start()).body];
      await new GrantStore(app.redis).deny((await requestOf(denied.user_code)).grantId, client.client_id);
      expectStandardError(await poll(denied.device_code), 400, 'access_denied');
      const id = await approve(removed.user_code);
      await new GrantStore(app.redis).revoke(id, 60);
      expectStandardError(await poll(removed.device_code), 400, 'access_denied');
    });

    // @rfc 8628 3.5
    it('is refused when the code has expired', async () => {
      const { device_code: code } = (await start()).body;
      await app.redis.del(`grant:${app.grantIdOf(code)}`);
      expectStandardError(await poll(code), 400, 'expired_token');
    });

    it('is refused for another client, a forged code, or a client that is not registered for devices', async () => {
      const { device_code: code, user_code: userCode } = (await start()).body;
      const { clientId } = await app.clients.create({
        name: 'Other display',
        type: 'public',
        scopes: ['profile:read'],
        redirectUris: [],
        deviceGrant: true,
      });
      expectStandardError(await poll(code, {}, { client_id: clientId }), 400, 'invalid_grant');
      const forged = `${String(code).slice(0, -1)}${String(code).endsWith('A') ? 'B' : 'A'}`;
      expectStandardError(await poll(forged), 400, 'invalid_grant');
      expectStandardError(await poll(code, {}, app.ours), 400, 'unauthorized_client');
      await approve(userCode);
      expect((await poll(code)).status).toBe(200);
    });

    it.each(['device_authorization', 'first poll'])('is bound to the DPoP key of the %s', async (first) => {
      const [key, other] = [await DpopKey.generate(), await DpopKey.generate()];
      const proof = async (by: DpopKey, path: string) => ({
        DPoP: await by.proof('POST', `${app.configuration.BASE_URL}/api/auth/oauth/${path}`),
      });
      const started = await start({}, first === 'first poll' ? {} : await proof(key, ENDPOINT));
      const { device_code: code, user_code: userCode } = started.body;
      if (first === 'first poll')
        expectStandardError(await poll(code, await proof(key, 'token')), 400, 'authorization_pending');
      expectStandardError(await poll(code, await proof(other, 'token')), 400, 'invalid_grant');
      await approve(userCode);
      expectStandardError(await poll(code), 400, 'invalid_grant');
      expectStandardError(await poll(code, await proof(other, 'token')), 400, 'invalid_grant');
      const answer = await poll(code, await proof(key, 'token'));
      expect(answer.body).toMatchObject({ token_type: 'DPoP' });
      expect(app.codec.decode(answer.body.access_token)?.jkt).toBe(key.jkt);
    });

    it('needs a proof if the client must prove a key', async () => {
      const { clientId } = await app.clients.create({
        name: 'Bound display',
        type: 'public',
        scopes: ['profile:read'],
        redirectUris: [],
        deviceGrant: true,
        dpopBound: true,
      });
      const { device_code: code } = (await start({ client_id: clientId })).body;
      expectStandardError(await poll(code, {}, { client_id: clientId }), 400, 'invalid_dpop_proof');
    });
  });

  // @rfc 8628 4
  it('the metadata contains the endpoint and the grant type for devices', async () => {
    const { body } = await request(app.server).get('/.well-known/oauth-authorization-server');
    expect(body.device_authorization_endpoint).toBe(
      `${app.configuration.BASE_URL}/api/auth/oauth/device_authorization`,
    );
    expect(body.grant_types_supported).toContain(DEVICE_CODE);
  });
});

describe('device openid', () => {
  const app = useTokenApp({ ID_TOKEN_KEYS });

  const LOGIN = { authTime: 1_700_000_000, session: 'b'.repeat(43) };

  let clientId: string;

  beforeAll(async () => {
    const client = await app.clients.create({
      name: 'Room display',
      type: 'public',
      scopes: ['openid', 'email', 'profile:read'],
      redirectUris: [],
      deviceGrant: true,
    });
    clientId = client.clientId;
  });

  async function approved(scope: string, more: object = {}): Promise<() => Promise<Response>> {
    const started = await app.post('device_authorization', { client_id: clientId, scope, ...more });
    expect(started.status).toBe(200);
    const { device_code: deviceCode } = started.body as { device_code: string };
    const id = app.grantIdOf(deviceCode);
    const login = scope.includes('openid') ? LOGIN : null;
    const grant = { clientId, userId: app.userId, scope, resources: null, login };
    await app.records.create({ id, ...grant, requestedScope: scope, expiresAt: new Date(Date.now() + 1e9) });
    await new GrantStore(app.redis).approve(id, { ...grant, externalId: null }, Date.now());
    const poll = { grant_type: DEVICE_CODE, device_code: deviceCode, client_id: clientId };
    return () => app.post('token', poll).then((answer) => answer);
  }

  const idTokenOf = ({ body }: Response) => decodeJwt(String(body.id_token));

  // @rfc 8628 3.5 @openid core 2
  it('a device with the openid scope gets an ID token for the login of the user who approved it', async () => {
    const answer = await (await approved('openid profile:read'))();
    expect(answer.status).toBe(200);
    expect(idTokenOf(answer)).toMatchObject({
      iss: 'https://base.example.com',
      sub: String(app.userId),
      aud: clientId,
      auth_time: LOGIN.authTime,
      sid: sessionIdFor(clientId, LOGIN.session),
    });
  });

  it('a device cannot choose the nonce and claims of its ID token', async () => {
    const claims = JSON.stringify({ id_token: { email: null, sub: { value: String(randomInt(1e9)) } } });
    const answer = await (await approved('openid email', { nonce: 'chosen', claims }))();
    const token = idTokenOf(answer);
    expect(token.sub).toBe(String(app.userId));
    expect(token).not.toHaveProperty('nonce');
    expect(token).not.toHaveProperty('email');
  });

  it('a device that polls again after a lost response gets an ID token of the same login', async () => {
    const poll = await approved('openid');
    const [first, second] = [idTokenOf(await poll()), idTokenOf(await poll())];
    expect(second).toEqual(first);
  });

  it('a device without the openid scope gets no ID token', async () => {
    const answer = await (await approved('profile:read'))();
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('id_token');
  });
});
