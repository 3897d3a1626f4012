import { Controller, Get, type INestApplication, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import request, { type Response } from 'supertest';
import {
  type ClientTokenInfo,
  CurrentToken,
  IntrospectionModule,
  Introspector,
  RequireClientToken,
  RequireScope,
  TokenGuard,
} from '#introspection/index.js';
import { SUBJECTS } from '#messaging/contract.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { auditEvents, undocumentedDetails } from '#test/support/audit-trail.js';
import {
  ASSERTION_TYPE,
  type AssertionSettings,
  ClientKey,
  DpopKey,
  ID_TOKEN_KEYS,
  keysOf,
} from '#test/support/keys.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { monitorRedis } from '#test/support/redis-monitor.js';
import { until } from '#test/support/until.js';
import { TokenConfiguration } from '../../src/token.configuration.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { useTokenApp } from '../support/use-token-app.js';

const ISSUER = 'https://base.example.com';
const [CONSOLE_URL, API_URL] = ['https://console.example.com', 'https://api.example.com'];
const SCOPES = ['admin:read', 'admin:write'];

const app = useTokenApp({ CONSOLE_URL, API_URL, ID_TOKEN_KEYS });
let key: ClientKey;
let terraform: string;

const OWN = { name: 'Terraform', type: 'confidential', scopes: SCOPES, redirectUris: [] } as const;

const RULES = { grantType: 'client_credentials' } as const;

async function register(more: object = {}): Promise<string> {
  return (await app.clients.create({ ...OWN, ...keysOf(key), ...RULES, ...more })).clientId;
}

beforeAll(async () => {
  key = await ClientKey.generate();
  terraform = await register();
});

const assertionOf = async (clientId = terraform, signer = key, settings: AssertionSettings = {}) => ({
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: await signer.assertion(clientId, ISSUER, settings),
});

const send = async (more: object = {}, credentials: object | Promise<object> = assertionOf()) =>
  app.post('token', { grant_type: 'client_credentials', ...more, ...(await credentials) });

const tokenOf = async (...request: Parameters<typeof send>) =>
  ((await send(...request)).body as { access_token: string }).access_token;

const introspect = (token: string, jkt?: string) =>
  app.ask<object>(SUBJECTS.introspect, { token, ...(jkt !== undefined && { jkt }) });

const checkOf = ({ body }: Response) => (body as { error_uri?: string }).error_uri?.split('#')[1];

const grants = async () => (await app.redis.keys('grant:*')).sort();

// @rfc 6749 4.4.2 @rfc 6749 4.4.3
describe('a client_credentials client (RFC 6749 4.4)', () => {
  it('gets only an access token for the console, which expires after ten minutes', async () => {
    const before = await grants();
    const answer = await send();
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^sat_/),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'admin:read admin:write',
    });
    const added = (await grants()).filter((name) => !before.includes(name));
    const id = app.grantIdOf((answer.body as { access_token: string }).access_token);
    expect(added).toEqual([`grant:${id}`]);
    const stored = await app.redis.hgetall(`grant:${id}`);
    expect(Object.keys(stored).sort()).toEqual(['c', 'g', 'o', 'r', 's', 't']);
    const ttl = await app.redis.ttl(`grant:${id}`);
    expect(ttl > 0 && ttl <= 605).toBe(true);
    expect(await app.sql('SELECT id FROM grants WHERE client_id = $1', [terraform])).toEqual([]);
  });

  it('needs one Redis script besides the script for its assertion', async () => {
    const commands: string[] = [];
    const stop = await monitorRedis(app.redisUrl, ([name = ''], source) => {
      if (source !== 'lua') commands.push(name.toUpperCase());
    });
    await send();
    // The monitor receives commands in order, but possibly after the response.
    await app.redis.echo('end of the request');
    await until('the monitor hears the end', 5_000, () => commands.includes('ECHO'));
    stop();
    expect(commands.filter((name) => name.startsWith('EVAL'))).toHaveLength(2);
  });

  it('gets the requested scopes if they are registered', async () => {
    expect((await send({ scope: 'admin:read' })).body).toMatchObject({ scope: 'admin:read' });
    const reader = await register({ scopes: ['admin:read'] });
    for (const scope of ['admin:write', 'profile:read openid', 'admin:READ', 'ssf.read']) {
      const refused = await send({ scope }, assertionOf(reader));
      expectStandardError(refused, 400, 'invalid_scope');
      expect(checkOf(refused)).toBe('scope_unregistered');
    }
    for (const scope of [undefined, 'admin:read admin:write', 'offline_access admin:read'])
      expect((await send({ scope }, assertionOf(reader))).body).toMatchObject({ scope: 'admin:read' });
  });

  // @rfc 8707 2
  it('gets no token for another API', async () => {
    expect((await send({ resource: `${CONSOLE_URL}/admin/v1` })).status).toBe(200);
    for (const resource of [API_URL, ISSUER, [CONSOLE_URL, API_URL]])
      expectStandardError(await send({ resource }), 400, 'invalid_target');
  });

  it('has no other grant type, and cannot push an authorization request', async () => {
    const code = await app.ourCode();
    const [token, refreshToken] = [await tokenOf(), (await app.pair()).refresh_token];
    const parameters = { redirect_uri: REDIRECT_URI, response_type: 'code', state: 's', scope: 'admin:read' };
    const requests: [endpoint: string, body: object][] = [
      ['token', { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }],
      ['token', { grant_type: 'refresh_token', refresh_token: refreshToken }],
      ['refreshToken', { grant_type: 'refresh_token', refresh_token: token }],
      ['par', parameters],
    ];
    for (const [endpoint, body] of requests) {
      const refused = await app.post(endpoint, { ...body, ...(await assertionOf()) });
      expectStandardError(refused, 400, 'unauthorized_client');
      expect(checkOf(refused)).toBe('grant_type_unregistered');
    }
    expect((await app.post('token', app.redemption(code))).status).toBe(200);
  });

  it('gets only bound tokens if it is registered for them', async () => {
    const [bound, dpop] = [await register({ dpopBound: true }), await DpopKey.generate()];
    expect(checkOf(await send({}, assertionOf(bound)))).toBe('dpop_proof_missing');
    const answer = await app
      .post('token', { grant_type: 'client_credentials', ...(await assertionOf(bound)) })
      .set('DPoP', await dpop.proof('POST', `${ISSUER}/api/auth/oauth/token`));
    expect(answer.body).toMatchObject({ token_type: 'DPoP', expires_in: 600 });
    const { access_token: token } = answer.body as { access_token: string };
    const { jkt } = dpop;
    expect(await introspect(token)).toEqual({ active: false });
    expect(await introspect(token, jkt)).toMatchObject({ active: true, sub: bound, cnf: { jkt } });
  });

  it('is recorded in the audit trail with its scope and without a user', async () => {
    const token = await tokenOf({ scope: 'admin:read' });
    const [event] = await auditEvents(app.natsUrl, { grantId: app.grantIdOf(token) }, 1);
    expect(event).toMatchObject({
      type: 'token.issued',
      client_id: terraform,
      detail: { grant_type: 'client_credentials', scope: 'admin:read' },
    });
    expect(event).not.toHaveProperty('user_id');
    expect(await undocumentedDetails(event ? [event] : [])).toEqual([]);
  });
});

describe('the client_credentials grant type', () => {
  let stored: string[];
  beforeAll(async () => {
    stored = await grants();
  });
  afterEach(async () => {
    expect(await grants()).toEqual(stored);
  });

  // @rfc 6749 4.4 @rfc 6749 5.2
  it.each<[string, () => Promise<object>]>([
    ['a client with a secret', () => Promise.resolve(app.ours)],
    ['a public client', () => app.publicClient('http://localhost/cb')],
    [
      'a client with keys',
      async () => {
        const { clientId } = await app.clients.create({
          ...OWN,
          scopes: ['profile:read'],
          redirectUris: [REDIRECT_URI],
          ...keysOf(key),
        });
        return assertionOf(clientId);
      },
    ],
  ])('is refused for a client that is not registered for it: %s', async (_client, credentials) => {
    const refused = await send({ scope: 'admin:read' }, await credentials());
    expectStandardError(refused, 400, 'unauthorized_client');
    expect(checkOf(refused)).toBe('grant_type_unregistered');
  });

  it.each<[string, string, () => Promise<object>]>([
    ['only its id', 'client_assertion_missing', () => Promise.resolve({ client_id: terraform })],
    [
      'a secret',
      'client_secret_forbidden',
      () => Promise.resolve({ client_id: terraform, client_secret: app.ours.client_secret }),
    ],
    [
      'the assertion of another key',
      'client_assertion_key_mismatch',
      async () => assertionOf(terraform, await ClientKey.generate()),
    ],
    [
      'the subject of another client',
      'client_assertion_issuer_mismatch',
      async () => assertionOf(terraform, key, { claims: { sub: app.ours.client_id } }),
    ],
    [
      'an assertion for another server',
      'client_assertion_audience_mismatch',
      () => assertionOf(terraform, key, { claims: { aud: CONSOLE_URL } }),
    ],
  ])('is refused for a client that sends %s', async (_what, check, credentials) => {
    const refused = await send({}, await credentials());
    expectStandardError(refused, 401, 'invalid_client');
    expect(checkOf(refused)).toBe(check);
  });

  it('is refused with an assertion that was used before', async () => {
    const credentials = await assertionOf();
    await send({}, credentials);
    stored = await grants();
    const refused = await send({}, credentials);
    expectStandardError(refused, 401, 'invalid_client');
    expect(checkOf(refused)).toBe('client_assertion_replayed');
  });

  it('is refused for a disabled client', async () => {
    const disabled = await register();
    await app.registrations.setDisabled(disabled, true);
    expect(checkOf(await send({}, assertionOf(disabled)))).toBe('client_disabled');
  });
});

// @rfc 7662 2.2
describe('the token of a client', () => {
  it('has the `sub` of the client and the `aud` of the console, over NATS and HTTP', async () => {
    const token = await tokenOf({ scope: 'admin:read' });
    const expected = {
      active: true,
      grant_id: app.grantIdOf(token),
      client_id: terraform,
      sub: terraform,
      scope: 'admin:read',
      aud: [CONSOLE_URL],
      exp: expect.any(Number),
    };
    expect(await introspect(token)).toEqual(expected);
    const { secret, hash } = generateClientSecret();
    const { id } = await app.resourceServers.create('Bookings API', hash);
    const { body } = await app.post('introspect', { token, client_id: id, client_secret: secret });
    expect(body).toEqual({ ...expected, iss: ISSUER, token_type: 'Bearer' });
  });

  it('becomes inactive when the client is disabled or deleted', async () => {
    for (const end of ['setDisabled', 'delete'] as const) {
      const clientId = await register();
      const token = await tokenOf({}, assertionOf(clientId));
      expect(await introspect(token)).toMatchObject({ active: true });
      await (end === 'delete'
        ? app.registrations.delete(clientId)
        : app.registrations.setDisabled(clientId, true));
      await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
      await app.settled();
      expect(await introspect(token)).toEqual({ active: false });
    }
  });

  it.each<[string, (clientId: string) => Promise<unknown>]>([
    [
      'after the client is enabled again',
      async (id) => {
        await app.registrations.setDisabled(id, true);
        await app.registrations.setDisabled(id, false);
      },
    ],
    [
      'after a key of the client is removed',
      async (id) => {
        const keys = keysOf(await ClientKey.generate());
        await app.registrations.update(id, (current) => ({ ...current, ...keys }));
      },
    ],
  ])('stays inactive %s', async (_, change) => {
    const clientId = await register();
    const token = await tokenOf({}, assertionOf(clientId));
    expect(await introspect(token)).toMatchObject({ active: true });
    await change(clientId);
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    await app.settled();
    expect(await introspect(token)).toEqual({ active: false });
    const { secret, hash } = generateClientSecret();
    const { id } = await app.resourceServers.create('Bookings API', hash);
    const { body } = await app.post('introspect', { token, client_id: id, client_secret: secret });
    expect(body).toEqual({ active: false });
  });

  it('is active even if it is newer than the versions that the process has read', async () => {
    const clientId = await register();
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    await app.settled();
    await app.registrations.update(clientId, (current) => ({ ...current, name: 'Rooms' }));
    expect(await introspect(await tokenOf({}, assertionOf(clientId)))).toMatchObject({ active: true });
  });

  // @rfc 7009 2
  it('can be revoked only by the client', async () => {
    const token = await tokenOf();
    await app.post('revoke', { token, ...app.ours });
    expect(await introspect(token)).toMatchObject({ active: true });
    const { told } = await app.revocation();
    expect((await app.post('revoke', { token, ...(await assertionOf()) })).status).toBe(200);
    await told;
    expect(await introspect(token)).toEqual({ active: false });
  });

  it('becomes inactive if Redis loses it', async () => {
    const token = await tokenOf();
    await app.redis.del(`grant:${app.grantIdOf(token)}`);
    expect(await introspect(token)).toEqual({ active: false });
    expect(await introspect(await tokenOf())).toMatchObject({ active: true });
  });

  it('is not accepted as a refresh token or as a code', async () => {
    const token = await tokenOf();
    for (const body of [
      { grant_type: 'refresh_token', refresh_token: token },
      { grant_type: 'authorization_code', code: token, redirect_uri: REDIRECT_URI },
    ])
      expectStandardError(await app.post('token', { ...body, ...app.ours }), 400, 'invalid_grant');
  });
});

@Controller()
@UseGuards(TokenGuard)
class Api {
  @Get('of-user')
  ofUser(@CurrentToken() token: { userId: unknown }) {
    return { user: token.userId };
  }

  @Get('of-client')
  @RequireClientToken()
  @RequireScope('admin:read')
  ofClient(@CurrentToken() token: ClientTokenInfo) {
    return { client: token.clientId, user: token.userId };
  }
}

describe('an API behind TokenGuard', () => {
  let api: INestApplication | undefined;
  afterEach(() => api?.close());

  /** Starts the API. Only one API can run at a time, because passport keeps one strategy of a name per process. */
  async function start(resourceUrl?: string): Promise<INestApplication> {
    @Module({
      imports: [IntrospectionModule.forRoot({ natsUrl: app.natsUrl, resourceUrl, timeoutMs: 10_000 })],
      controllers: [Api],
    })
    class Service {}
    api = await NestFactory.create(Service, new FastifyAdapter(), { logger: false });
    await api.listen(0, '127.0.0.1');
    const introspector = api.get(Introspector);
    // The API connects in the background.
    await until('the API is connected', 20_000, () => introspector.ping().then(() => true));
    return api;
  }

  const get = async (path: string, token: string) => {
    const { status, body, headers } = await request(api?.getHttpServer())
      .get(path)
      .auth(token, { type: 'bearer' });
    return { status, body: body as object, challenge: headers['www-authenticate'] };
  };

  it('accepts the token of a client only on routes for clients, even if the token is cached', async () => {
    const introspector = (await start(CONSOLE_URL)).get(Introspector);
    const token = await tokenOf();
    for (let cached = 0; cached < 2; cached++) {
      expect(await get('/of-client', token)).toMatchObject({
        status: 200,
        body: { client: terraform, user: null },
      });
      expect(await get('/of-user', token)).toMatchObject({
        status: 401,
        challenge: expect.stringContaining('error="invalid_token"') as string,
      });
    }
    expect(await introspector.introspect(token)).toBeNull();
  });

  it('refuses the token of a user on a route for clients', async () => {
    await start(CONSOLE_URL);
    const { access_token: token } = await app.pair({ scope: 'profile:read admin:read' });
    expect(await get('/of-user', token)).toMatchObject({ status: 200, body: { user: app.userId } });
    expect(await get('/of-client', token)).toMatchObject({ status: 401 });
  });

  it.each([API_URL, undefined])(
    'refuses the token of a client if resourceUrl is %s instead of the URL of the console',
    async (url) => {
      const introspector = (await start(url)).get(Introspector);
      const token = await tokenOf();
      for (const path of ['/of-user', '/of-client'])
        expect(await get(path, token)).toMatchObject({ status: 401 });
      expect(await introspector.introspect(token)).toBeNull();
    },
  );

  it('refuses the token of a client without the scope of the route', async () => {
    await start(CONSOLE_URL);
    expect(await get('/of-client', await tokenOf({ scope: 'admin:write' }))).toMatchObject({
      status: 403,
      challenge: expect.stringContaining('error="insufficient_scope", scope="admin:read"') as string,
    });
  });

  it('refuses a cached token after its client is disabled', async () => {
    await start(CONSOLE_URL);
    const clientId = await register();
    const token = await tokenOf({}, assertionOf(clientId));
    expect(await get('/of-client', token)).toMatchObject({ status: 200 });
    await app.registrations.setDisabled(clientId, true);
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    await until('the token is refused', 20_000, async () => (await get('/of-client', token)).status === 401);
  });
});

describe('the table of clients', () => {
  it.each([
    'jwks = NULL',
    "redirect_uris = '{https://app.example.com/cb}'",
    "scopes = '{profile:read}'",
    "optional_scopes = '{admin:read}'",
    "grant_type = 'authorization_code'",
    "grant_type = 'password'",
    "type = 'public'",
    "client_id = '7'",
  ])('cannot contain a client_credentials client with %s', async (change) => {
    await expect(app.sql(`UPDATE clients SET ${change} WHERE client_id = $1`, [terraform])).rejects.toThrow(
      /check/,
    );
  });

  it.each([
    "scopes = '{profile:read,admin:read}'",
    "redirect_uris = '{}'",
    "grant_type = 'client_credentials'",
  ])('cannot contain another client with %s', async (change) => {
    await expect(
      app.sql(`UPDATE clients SET ${change} WHERE client_id = $1`, [app.ours.client_id]),
    ).rejects.toThrow(/check/);
  });
});

describe('the metadata', () => {
  it('lists client_credentials', async () => {
    const { body } = await request(app.server).get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      grant_types_supported: expect.arrayContaining(['authorization_code', 'client_credentials']),
    });
  });
});

describe('CONSOLE_URL', () => {
  it.each(['AUTH_URL', 'BASE_URL', 'API_URL', 'OTHER_API_URLS'])(
    'cannot share an origin with %s',
    (other) => {
      const taken = {
        CONSOLE_URL: API_URL,
        [other]: other === 'OTHER_API_URLS' ? `https://b.example,${API_URL}` : API_URL,
      };
      expect(() => loadConfiguration(TokenConfiguration, taken)).toThrow(
        /CONSOLE_URL must be another origin/,
      );
    },
  );
});

describe('a token app without a console', () => {
  const without = useTokenApp();

  it('refuses client_credentials', async () => {
    const { clientId } = await without.clients.create({ ...OWN, ...keysOf(key), ...RULES });
    const body = { grant_type: 'client_credentials', ...(await assertionOf(clientId)) };
    expectStandardError(await without.post('token', body), 400, 'unsupported_grant_type');
    expect(await without.redis.keys('*')).toEqual([]);
  });
});
