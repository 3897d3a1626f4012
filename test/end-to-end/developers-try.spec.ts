import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import type { Browser } from '#test/support/browser.js';
import { startTokenApp, type TokenApp } from '../../apps/token/test/support/start-token-app.js';
import {
  type DevelopersApp,
  startDevelopersApp,
} from '../../apps/developers/test/support/start-developers-app.js';

const REDIRECT_URI = 'https://rooms.example.com/callback';

let portal: DevelopersApp;
let token: TokenApp;
let api: Server;
let calls: (string | undefined)[];
let browser: Browser;
let userId: number;

beforeAll(async () => {
  api = createServer((request, response) => {
    calls.push(`${request.url} ${request.headers.authorization}`);
    response.end('{"status":"success"}');
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  portal = await startDevelopersApp({
    API_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
  });
  token = await startTokenApp({ TOKEN_KEYS: portal.tokenKeys }, portal.services);
  portal.provider.state.others = (request, response) => void forward(request, response);
});
beforeEach(async () => {
  calls = [];
  ({ browser, userId } = await portal.developer());
  await portal.resetRateLimits();
});
afterAll(async () => {
  await token.close();
  await portal.close();
  api.close();
});

/** Sends a request for BASE_URL to the token app. */
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { authorization, 'content-type': type = '' } = request.headers;
  const answer = await fetch(token.url + request.url, {
    method: request.method ?? 'GET',
    headers: { 'Content-Type': type, ...(authorization !== undefined && { authorization }) },
    body: await buffer(request),
  });
  response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type') ?? '' });
  response.end(await answer.text());
}

async function application(fields: Record<string, string> = {}) {
  const created = await portal.postForm(browser, '/requests', {
    name: 'Room Finder',
    purpose: 'Finds rooms for meetings.',
    clientUri: 'https://rooms.example.com',
    policyUri: 'https://rooms.example.com/privacy',
    contacts: 'help@rooms.example.com',
    application: 'server',
    redirectUris: REDIRECT_URI,
    'reason:profile:read': 'Shows the name of the user.',
    action: 'submit',
    ...fields,
  });
  const [, id = ''] = /id="client-id">([^<]+)</.exec(created.text) ?? [];
  const [, secret = ''] = /id="secret">([^<]+)</.exec(created.text) ?? [];
  return { id, secret, path: `/applications/${id}/try` };
}

type Application = Awaited<ReturnType<typeof application>>;

const post = ({ path }: Application, step = '', fields: Record<string, string> = {}) =>
  portal.postForm(browser, step === '' ? path : `${path}/${step}`, fields);

const page = async ({ path }: Application) => (await browser.get(path)).text;

/** Parameters of the authorization request that the page shows. */
async function started(app: Application): Promise<URLSearchParams> {
  await post(app, '', { scope: 'profile:read', redirect_uri: REDIRECT_URI });
  const [, href = ''] = /href="([^"]+\/auth\/oauth2\/authorize[^"]+)"/.exec(await page(app)) ?? [];
  return new URL(href.replaceAll('&amp;', '&')).searchParams;
}

/** Address to which the browser returns after the user has allowed access. */
async function allowed(app: Application, request: URLSearchParams): Promise<URL> {
  const challenge = request.get('code_challenge') ?? '';
  const code = await portal.fixture.code(app.id, userId, { redirectUri: REDIRECT_URI, challenge });
  const url = new URL(REDIRECT_URI);
  url.search = new URLSearchParams({
    code,
    state: request.get('state') ?? '',
    iss: portal.configuration.BASE_URL,
  }).toString();
  return url;
}

async function returned(app: Application): Promise<void> {
  const { href } = await allowed(app, await started(app));
  await post(app, 'return', { address: href });
}

describe('the flow', () => {
  it('creates a request with a new state and PKCE, and a nonce only for OpenID Connect', async () => {
    const app = await application();
    const [one, other] = [await started(app), await started(app)];
    expect(Object.fromEntries(one)).toMatchObject({
      client_id: app.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      code_challenge_method: 'S256',
    });
    expect(one.get('state')).not.toBe(other.get('state'));
    expect(one.has('nonce')).toBe(false);
    await post(app, '', { scope: 'openid profile:read' });
    expect(await page(app)).toContain('<code>nonce</code>');
  });

  it('exchanges, calls, refreshes and revokes, and shows neither the secret nor a token', async () => {
    const app = await application();
    await returned(app);
    expect(await page(app)).toContain('correct state and issuer');
    for (const step of ['exchange', 'call', 'refresh', 'revoke']) {
      const done = await post(app, step, { client_secret: app.secret });
      expect([step, done.status, done.headers['location']]).toEqual([step, 303, `${app.path}#${step}`]);
    }
    const text = await page(app);
    expect(text.match(/Response: 200/g)).toHaveLength(4);
    expect(text).toContain('&quot;access_token&quot;: &quot;sat_…&quot;');
    expect(text).not.toMatch(/s(?:ac|at|rt|cs)_[\w-]{16}/);
    expect(calls).toEqual([expect.stringMatching(/^\/v2\/me Bearer sat_/)]);
    const grants = await portal.fixture.sql('SELECT revoked_for FROM grants WHERE client_id = $1', [app.id]);
    expect(grants).toEqual([{ revoked_for: expect.any(String) as string }]);
  });

  it('stores neither the secret nor a readable token', async () => {
    const app = await application();
    await returned(app);
    await post(app, 'exchange', { client_secret: app.secret });
    const { redis } = portal.fixture;
    const names = await redis.keys('developers:*');
    const values = await Promise.all(
      names.map((name) => redis.get(name).catch(async () => JSON.stringify(await redis.hgetall(name)))),
    );
    const all =
      names.join() +
      values.map((value) => value + Buffer.from(value ?? '', 'base64').toString('latin1')).join();
    expect(names.some((name) => name.startsWith('developers:flow:'))).toBe(true);
    expect(all).not.toContain(app.secret);
    expect(all).not.toMatch(/s(?:ac|at|rt)_/);
  });

  it('of a public client sends its id and the code verifier, without a secret', async () => {
    const app = await application({ application: 'browser' });
    await returned(app);
    expect(await page(app)).not.toContain('type="password"');
    await post(app, 'exchange');
    const text = await page(app);
    expect(text).toContain(`client_id=${app.id}`);
    expect(text).toContain('Response: 200');
  });

  it('explains a refused exchange, and links to its cause', async () => {
    const app = await application();
    await returned(app);
    await post(app, 'exchange', { client_secret: app.secret });
    await post(app, 'exchange', { client_secret: app.secret });
    const text = await page(app);
    expect(text).toContain('invalid_grant');
    expect(text).toMatch(
      new RegExp(`href="/applications/${app.id}/activity\\?reference=[\\w-]{12}#refused"`),
    );
  });

  it.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'other'), 'The state differs'],
    [
      'another issuer',
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      'The issuer (iss) is not',
    ],
    ['no issuer', (url: URL) => url.searchParams.delete('iss'), 'The issuer (iss) is not'],
    ['another path', (url: URL) => (url.pathname = '/other'), 'This is not the redirect URI'],
    [
      'neither a code nor an error',
      (url: URL) => url.searchParams.delete('code'),
      'neither a code nor an error',
    ],
  ])('stops at an address with %s', async (_, change, problem) => {
    const app = await application();
    const url = await allowed(app, await started(app));
    change(url);
    await post(app, 'return', { address: url.href });
    expect(await page(app)).toContain(problem);
    expect((await post(app, 'exchange', { client_secret: app.secret })).status).toBe(409);
  });

  it('explains an error at the redirect URI', async () => {
    const app = await application();
    const url = await allowed(app, await started(app));
    url.searchParams.delete('code');
    const { BASE_URL } = portal.configuration;
    const sent = {
      error: 'invalid_scope',
      error_description: '<b>no scope</b>',
      error_uri: `${BASE_URL}/api/auth/oauth/errors#scope_unregistered`,
      error_reference: 'Zs0aPq81mT3x',
    };
    for (const [name, value] of Object.entries(sent)) url.searchParams.set(name, value);
    await post(app, 'return', { address: url.href });
    const text = await page(app);
    expect(text).toContain('&lt;b&gt;no scope&lt;/b&gt;');
    expect(text).toContain(`/applications/${app.id}/activity?reference=Zs0aPq81mT3x`);
  });

  it('is not run for an application that pushes its requests', async () => {
    const app = await application();
    await portal.fixture.sql('UPDATE clients SET require_par = true WHERE client_id = $1', [app.id]);
    expect(await page(app)).toContain('This page cannot run the flow');
    expect((await post(app, '', { scope: 'profile:read' })).status).toBe(409);
  });

  it('keeps no long scope or address, so that its user cannot fill Redis', async () => {
    const app = await application();
    const long = 'x'.repeat(20_000);
    await post(app, '', { scope: long, redirect_uri: REDIRECT_URI });
    const url = await allowed(app, await started(app));
    url.searchParams.delete('code');
    url.searchParams.set('error', long);
    await post(app, 'return', { address: url.href });
    expect(await page(app)).toContain('This is not a complete address');
    await post(app, '', { scope: long, redirect_uri: REDIRECT_URI });
    expect(await page(app)).not.toContain('x'.repeat(2_000));
  });

  it('belongs to its session', async () => {
    const app = await application();
    await returned(app);
    const again = portal.browser();
    await portal.logIn(again, userId);
    expect((await again.get(app.path)).text).not.toContain('name="address"');
  });

  it('sends at most 20 requests a minute for a session', async () => {
    const app = await application();
    await returned(app);
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++)
      statuses.push((await post(app, 'exchange', { client_secret: `scs_${n}` })).status);
    expect([statuses.filter((status) => status === 303).length, statuses.at(-1)]).toEqual([20, 429]);
  });

  it('has no other step', async () => {
    const app = await application();
    expect((await post(app, 'introspect')).status).toBe(400);
    expect((await post(app, 'exchange', { client_secret: app.secret })).status).toBe(409);
  });
});
