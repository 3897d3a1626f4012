import { Registry } from 'prom-client';
import { Readiness, serveHealth } from '#platform/health/readiness.js';
import { AnswerChecker } from '#test/support/openapi/answer-checker.js';
import {
  createResourceServer,
  ProductUser,
  type RunningProduct,
  startProduct,
  withStores,
} from '#test/end-to-end/running-product.js';

type Document = ConstructorParameters<typeof AnswerChecker>[0] & { servers: { url: string }[] };

let product: RunningProduct;
let authorizationServer: Document;
let api: Document;

beforeAll(async () => {
  product = await startProduct();
  const { base_url, api_url } = product.run;
  authorizationServer = await load(`${base_url}/api/auth/oauth/openapi.json`);
  api = await load(`${api_url}/v2/me/openapi.json`);
});

afterAll(() => product.close());

const load = async (url: string) => (await (await fetch(url)).json()) as Document;

async function exchange(document: Document, url: string, init: RequestInit = {}) {
  const answer = await fetch(url, { redirect: 'manual', ...init });
  const body = await answer.text();
  const problems = new AnswerChecker(document).problems({
    method: init.method ?? 'GET',
    path: new URL(url).pathname,
    request: init.body instanceof URLSearchParams ? Object.fromEntries(init.body) : undefined,
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body,
  });
  const isJson = body !== '' && answer.headers.get('content-type')?.includes('json');
  return {
    status: answer.status,
    headers: answer.headers,
    problems,
    body: isJson ? (JSON.parse(body) as Record<string, unknown>) : {},
  };
}

function post(path: string, parameters: Record<string, string>, client: object = product.run.client) {
  const url = `${product.run.base_url}/api/auth/oauth/${path}`;
  return exchange(authorizationServer, url, {
    method: 'POST',
    body: new URLSearchParams({ ...client, ...parameters }),
  });
}

const me = (headers: Record<string, string> = {}) =>
  exchange(api, `${product.run.api_url}/v2/me`, { headers });

describe('the OpenAPI description of an app', () => {
  it('contains only the URLs of the installation', () => {
    const { auth_url, base_url, api_url } = product.run;
    expect([authorizationServer.servers[0]?.url, api.servers[0]?.url]).toEqual([base_url, api_url]);
    expect(JSON.stringify(authorizationServer)).toContain(`"url":"${auth_url}"`);
    expect(JSON.stringify([authorizationServer, api])).not.toMatch(/https:\/\/(auth|base|api)\.example\.com/);
  });

  it.each(['authorization server', 'API'])(
    'allows any origin and conditional requests: %s',
    async (which) => {
      const { base_url, api_url } = product.run;
      const [document, url] =
        which === 'API'
          ? [api, `${api_url}/v2/me/openapi.json`]
          : [authorizationServer, `${base_url}/api/auth/oauth/openapi.json`];
      const first = await exchange(document, url, { headers: { Origin: 'https://spa.example.com' } });
      expect(first.problems).toEqual([]);
      expect(first.headers.get('access-control-allow-origin')).toBe('*');
      expect(first.headers.get('cache-control')).toBe('public, max-age=300');
      const etag = first.headers.get('etag') ?? '';
      const second = await exchange(document, url, { headers: { 'If-None-Match': etag } });
      expect([second.status, second.problems]).toEqual([304, []]);
    },
  );

  it('is linked from the metadata', async () => {
    const { base_url, api_url } = product.run;
    const metadata = await exchange(
      authorizationServer,
      `${base_url}/.well-known/oauth-authorization-server`,
    );
    expect(metadata.headers.get('link')).toBe('</api/auth/oauth/openapi.json>; rel="service-desc"');
    const ofApi = await exchange(api, `${api_url}/.well-known/oauth-protected-resource`);
    const ofMe = await exchange(api, `${api_url}/.well-known/oauth-protected-resource/v2/me`);
    expect(ofApi.headers.get('link')).toBe('</v2/me/openapi.json>; rel="service-desc"');
    expect([...metadata.problems, ...ofApi.problems, ...ofMe.problems]).toEqual([]);
  });
});

it('the OpenAPI descriptions cover every response of the OAuth flow', async () => {
  const { client } = product.run;
  const code = await new ProductUser(product.run).code();
  const { redirect_uri } = client;
  const redemption = { grant_type: 'authorization_code', code, redirect_uri };
  const { redirect_uri: _redirectUri, ...credentials } = client;
  const server = await withStores(product.databaseUrl, (stores) => createResourceServer(stores, 'Reports'));
  const resourceServer = { client_id: server.id, client_secret: server.secret };

  const wrongSecret = await post('token', redemption, { ...credentials, client_secret: 'wrong' });
  const wrongType = await post('token', { grant_type: 'password' }, credentials);
  const incomplete = await post('token', {}, {});
  const tokens = await post('token', redemption, credentials);
  const bearer = { Authorization: `Bearer ${String(tokens.body['access_token'])}` };
  const refresh = { grant_type: 'refresh_token', refresh_token: String(tokens.body['refresh_token']) };
  const token = String(tokens.body['access_token']);
  const pushed = { redirect_uri, state: 's', scope: 'profile:read' };
  const answers = [
    ['wrong secret', 401, wrongSecret],
    ['wrong grant type', 400, wrongType],
    ['no client', 400, incomplete],
    ['exchange', 200, tokens],
    ['me', 200, await me(bearer)],
    ['me without a token', 401, await me()],
    ['me with a malformed header', 400, await me({ Authorization: 'Bearer' })],
    ['active', 200, await post('introspect', { token }, resourceServer)],
    ['introspection by a client', 401, await post('introspect', { token }, credentials)],
    ['push', 201, await post('par', pushed, credentials)],
    ['push of an unknown scope', 400, await post('par', { ...pushed, scope: 'x' }, credentials)],
    ['refresh', 200, await post('refreshToken', refresh, credentials)],
    ['revocation', 200, await post('revoke', { token }, credentials)],
    ['inactive', 200, await post('introspect', { token }, resourceServer)],
    ['refresh after the revocation', 400, await post('token', refresh, credentials)],
    ['me after the revocation', 401, await me(bearer)],
  ] as const;
  expect(answers.map(([name, , { status, problems }]) => [name, status, problems])).toEqual(
    answers.map(([name, status]) => [name, status, []]),
  );
});

it('the internal port responds as described', async () => {
  const readiness = new Readiness(['postgres']);
  const server = await serveHealth(readiness, new Registry(), '127.0.0.1', 0);
  try {
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const missing = await exchange(api, `${url}/readyz`);
    readiness.register('postgres', async () => undefined);
    readiness.start();
    const answers = [
      missing,
      await exchange(api, `${url}/readyz`),
      await exchange(api, `${url}/healthz`),
      await exchange(api, `${url}/metrics`),
    ];
    expect(answers.map(({ status, problems }) => [status, problems])).toEqual([
      [503, []],
      [200, []],
      [200, []],
      [200, []],
    ]);
  } finally {
    server.close();
  }
});
