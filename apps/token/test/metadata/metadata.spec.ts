import request from 'supertest';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { refusedByPreflight } from '#test/support/preflight.js';
import { SCOPES } from '#test/support/app-settings.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp();

const PATH = '/.well-known/oauth-authorization-server';

describe(`GET ${PATH} (RFC 8414)`, () => {
  // @rfc 8414 2 @rfc 8414 3 @rfc 9207 3 @rfc 9700 2.1.1
  it('lists the issuer and only endpoints that exist', async () => {
    const { body } = (await request(app.server).get(PATH)) as { body: Record<string, string> };
    expect(body).toMatchObject({
      issuer: 'https://base.example.com',
      authorization_endpoint: 'https://auth.example.com/auth/oauth2/authorize',
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
    const endpoints = Object.entries(body).filter(
      ([name, url]) => name.endsWith('_endpoint') && url.startsWith('https://base.example.com/'),
    );
    expect(endpoints.length).toBeGreaterThanOrEqual(3);
    for (const [name, url] of endpoints) {
      const answer = await request(app.server).post(new URL(url).pathname).send({});
      expect([name, answer.status, answer.body.error]).toEqual([name, 400, 'invalid_request']);
    }
  });

  // @rfc 8414 2 @rfc 8414 3.2
  it('returns a JSON object with the required fields, plain URLs and no empty lists (2, 3.2)', async () => {
    const answer = await request(app.server).get(PATH);
    expect([answer.status, answer.type]).toEqual([200, 'application/json']);
    const metadata = answer.body as Record<string, unknown>;
    expect(metadata).toMatchObject({
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      scopes_supported: SCOPES.names,
    });
    for (const name of ['issuer', 'authorization_endpoint', 'token_endpoint']) {
      const { protocol, search, hash } = new URL(String(metadata[name]));
      expect([name, protocol, search, hash]).toEqual([name, 'https:', '', '']);
    }
    for (const value of Object.values(metadata)) expect(value).not.toEqual([]);
  });

  // @rfc 9449 5.1
  it('lists the algorithms of DPoP proofs (RFC 9449 5.1)', async () => {
    const { body } = await request(app.server).get(PATH);
    expect(body).toMatchObject({ dpop_signing_alg_values_supported: DPOP_ALGORITHMS });
  });

  // @rfc 6749 5.2 @rfc 8414 2 @rfc 9700 2.1.2
  it('lists the grant types that the token endpoint accepts', async () => {
    const { body } = (await request(app.server).get(PATH)) as { body: { grant_types_supported: string[] } };
    for (const grant_type of [...body.grant_types_supported, 'password', 'client_credentials']) {
      const answer = await request(app.server).post('/api/auth/oauth/token').send({ grant_type });
      const known = answer.body.error !== 'unsupported_grant_type';
      expect([grant_type, known]).toEqual([grant_type, body.grant_types_supported.includes(grant_type)]);
    }
  });
});

describe('CORS', () => {
  const origin = 'https://spa.example.com';

  // @rfc 7009 2.3
  it.each(['/api/auth/oauth/token', '/api/auth/oauth/refreshToken', '/api/auth/oauth/revoke', PATH])(
    'permits calls to %s from a browser, including the preflight',
    async (path) => {
      const preflight = await request(app.server).options(path).set({
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type,dpop',
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': expect.stringContaining('POST'),
        'access-control-allow-headers': 'authorization,content-type,dpop',
      });
      expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
      const answer = await request(app.server).post(path).set('Origin', origin).send({});
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
    },
  );

  it.each<['GET' | 'POST', string]>([
    ['POST', '/api/auth/oauth/token'],
    ['POST', '/api/auth/oauth/refreshToken'],
    ['POST', '/api/auth/oauth/revoke'],
    ['POST', '/api/auth/oauth/par'],
    ['GET', PATH],
  ])('permits every header to %s %s', async (method, path) => {
    expect(await refusedByPreflight(app.server, method, path)).toEqual([]);
  });

  it.each(['/api/auth/oauth/introspect', '/nothing'])(
    'does not permit calls to %s from a browser',
    async (path) => {
      const answer = await request(app.server).post(path).set('Origin', origin).send({});
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      const preflight = await request(app.server).options(path).set({
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      });
      expect(preflight.headers).not.toHaveProperty('access-control-allow-headers');
    },
  );
});

describe('the address of error_uri (RFC 6749 5.2)', () => {
  it('redirects to the error guide without a fragment, so that the browser keeps the fragment of error_uri', async () => {
    const { headers } = await request(app.server).get('/api/auth/oauth/errors').expect(302);
    expect(headers['location']).toBe('https://auth.example.com/auth/errors');
  });

  it('rejects other methods', async () => {
    const answer = await request(app.server).post('/api/auth/oauth/errors').send({}).expect(405);
    expect(answer.body).toMatchObject({
      error: 'method_not_allowed',
      error_uri: expect.stringMatching(/\/errors#method_not_allowed$/),
    });
  });
});

describe('error_uri', () => {
  // @rfc 6749 5.2
  it.each([
    ['an invalid code', { code: 'x', redirect_uri: 'https://app.example.com/callback' }, 'unrecognized'],
    ['a missing parameter', {}, 'parameter_invalid'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('points to the failed check: %s', async (_name, parameters, anchor) => {
    const { body } = await app.post('token', {
      grant_type: 'authorization_code',
      ...app.ours,
      ...parameters,
    });
    expect(body.error_uri).toBe(`https://base.example.com/api/auth/oauth/errors#${anchor}`);
  });

  it('is the same for an unknown client and for a wrong secret', async () => {
    const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://app.example.com/' };
    const [unknown, wrong] = [
      await app.post('token', { ...code, client_id: 'sc_nobody', client_secret: 'x' }),
      await app.post('token', { ...code, ...app.ours, client_secret: 'x' }),
    ];
    expect(unknown?.body.error_uri).toMatch(/#client_credentials_mismatch$/);
    expect(wrong?.body.error_uri).toBe(unknown?.body.error_uri);
  });
});
