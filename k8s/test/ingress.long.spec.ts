import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { type Answer, askDirectly, type Asking, type Ingress } from './nginx.js';
import { startIngress } from './ingress.js';
import { find } from './manifests.js';
import { type Manifest, render } from './render.js';

const KEYS = randomBytes(32).toString('base64url');
const APPS = ['authorize', 'token', 'resource'] as const;
const [AUTH, BASE, API] = ['https://auth.localhost', 'https://base.localhost', 'https://api.localhost'];
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the ingress', () => {
  let services: Isolated;
  let fixture: Fixture;
  let manifests: Manifest[];
  let ingress: Ingress;
  let client: TestClient;
  const apps: AppProcess[] = [];
  const backends: Record<string, string> = {};

  beforeAll(async () => {
    services = await isolate();
    fixture = await openFixture(services, KEYS);
    client = await fixture.client();
    manifests = await render('overlays/local');
    const {
      AUTH_URL = '',
      BASE_URL = '',
      API_URL = '',
    } = find(manifests, 'ConfigMap', 'addresses').data ?? {};
    const start = async (name: (typeof APPS)[number]): Promise<void> => {
      const app = await startApp(name, {
        NODE_ENV: 'production',
        AUTH_URL,
        BASE_URL,
        API_URL,
        // Only the proxy is trusted, as in the cluster.
        TRUSTED_PROXIES: '127.0.0.1',
        DATABASE_URL: services.databaseUrl,
        REDIS_URL: services.redisUrl,
        NATS_URL: services.natsUrl,
        TOKEN_KEYS: KEYS,
      });
      apps.push(app);
      backends[name] = app.url;
    };
    await Promise.all(APPS.map(start));
    ingress = await startIngress(manifests, backends);
  });

  afterAll(async () => {
    await ingress?.stop();
    await Promise.all(apps.map((app) => app.stop()));
    await fixture?.close();
    await services?.close();
  });

  const post = (body: string, headers: Record<string, string> = {}): Promise<Answer> =>
    ingress.ask(`${BASE}/api/auth/oauth/token`, { method: 'POST', headers: { ...FORM, ...headers }, body });

  it.each([
    [`${AUTH}/`, 303, ''],
    [`${AUTH}/other`, 404, 'nginx'],
    [`${AUTH}/auth/login`, 200, 'text/html'],
    [`${AUTH}/auth/oauth2/authorize`, 400, 'text/html'],
    [`${AUTH}/authentication`, 404, 'nginx'],
    [`${AUTH}/api/auth/oauth/token`, 404, 'nginx'],
    [`${AUTH}/v2/me`, 404, 'nginx'],
    [`${BASE}/.well-known/oauth-authorization-server`, 200, '"issuer":"https://base.localhost"'],
    [`${BASE}/.well-known/openid-configuration`, 404, 'application/json'],
    [`${BASE}/api/auth/oauth/token`, 405, 'method_not_allowed'],
    [`${BASE}/auth/login`, 404, 'nginx'],
    [`${BASE}/v2/me`, 404, 'nginx'],
    [`${BASE}/metrics`, 404, 'nginx'],
    [`${API}/v2/me`, 401, '"status":"error"'],
    [`${API}/.well-known/oauth-protected-resource/v2/me`, 200, '"resource":"https://api.localhost/v2/me"'],
    [`${API}/userinfo`, 401, '"status":"error"'],
    [`${API}/userinfo/other`, 404, 'nginx'],
    [`${BASE}/userinfo`, 404, 'nginx'],
    [`${API}/api/auth/oauth/introspect`, 404, 'nginx'],
    ['https://localhost/auth/login', 404, 'nginx'],
  ])('responds to %s with %i', async (url, status, sign) => {
    const answer = await ingress.ask(url);
    expect([answer.status, `${String(answer.headers['content-type'])} ${answer.text}`]).toEqual([
      status,
      expect.stringContaining(sign),
    ]);
  });

  it('serves TLS only, with the certificate of each host', async () => {
    await expect(ingress.ask('https://other.example.com/')).rejects.toThrow(/altnames/);
    await expect(fetch(`http://127.0.0.1:${ingress.port}/auth/login`)).resolves.toMatchObject({
      status: 400,
    });
    const { headers } = await ingress.ask(`${AUTH}/auth/login`);
    expect(headers['strict-transport-security']).toMatch(/max-age=/);
    expect(String(headers['set-cookie'])).toMatch(/; Secure/);
  });

  it('supports the whole flow', async () => {
    const code = await fixture.code(client.client_id, await fixture.user());
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...client,
    });
    const tokens = JSON.parse((await post(form.toString())).text) as Record<string, string>;
    const me = await ingress.ask(`${API}/v2/me`, {
      headers: { authorization: `Bearer ${tokens['access_token']}` },
    });
    expect(me.status).toBe(200);
    const refreshed = await ingress.ask(`${BASE}/api/auth/oauth/refreshToken`, {
      method: 'POST',
      headers: { ...FORM, authorization: `Bearer ${tokens['refresh_token']}` },
      body: new URLSearchParams({ grant_type: 'refresh_token', ...client }).toString(),
    });
    expect(refreshed.status).toBe(200);
  });

  /** Fails to log in. The sixth attempt with the same address and name returns 429. */
  async function failedLogin(
    name: string,
    spoofed: string,
    ask: (path: string, asking?: Asking) => Promise<Answer>,
  ): Promise<number> {
    const page = await ask('/auth/login');
    const [cookie = ''] = String(page.headers['set-cookie']).split(';');
    const csrf = /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const headers = { ...FORM, cookie, 'x-forwarded-for': spoofed, forwarded: `for=${spoofed}` };
    const body = new URLSearchParams({ csrf_token: csrf, username: name, password: 'wrong' }).toString();
    return (await ask('/auth/login', { method: 'POST', headers, body })).status;
  }

  it('passes the client’s address to the apps instead of forwarded headers', async () => {
    const from =
      (address: string) =>
      (path: string, asking: Asking = {}): Promise<Answer> =>
        ingress.ask(AUTH + path, { ...asking, from: address });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1)
      statuses.push(await failedLogin('ada', `203.0.113.${n}`, from('127.0.0.2')));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await failedLogin('ada', '203.0.113.1', from('127.0.0.3'))).toBe(401);
  });

  it('is the only proxy whose X-Forwarded-For the apps trust', async () => {
    const { hostname, port } = new URL(backends['authorize'] ?? '');
    const directly = (path: string, asking: Asking = {}): Promise<Answer> =>
      askDirectly({ ...asking, hostname, port: Number(port), path, from: '127.0.0.4' });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push(await failedLogin('grace', `203.0.113.${n}`, directly));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('forwards bodies above the app’s limit, and rejects bodies above its own limit in the app’s format', async () => {
    const [byApp, byIngress] = [
      await post(`a=${'x'.repeat(100 * 1024)}`),
      await post(`a=${'x'.repeat(200 * 1024)}`),
    ];
    for (const { status, headers } of [byApp, byIngress])
      expect([status, headers['cache-control']]).toEqual([413, 'no-store']);
    const format = {
      error: 'invalid_request',
      error_description: expect.any(String),
      error_reference: expect.any(String),
    };
    expect(JSON.parse(byApp.text)).toEqual({
      ...format,
      error_uri: expect.stringMatching(/#body_too_large$/),
    });
    expect(JSON.parse(byIngress.text)).toEqual(format);
    const large = await ingress.ask(`${API}/v2/me`, { method: 'POST', body: 'x'.repeat(200 * 1024) });
    expect(JSON.parse(large.text)).toMatchObject({ status: 'error', error: { code: 'PAYLOAD_TOO_LARGE' } });
  });

  describe('at its rate limits and without apps', () => {
    let tight: Ingress;
    beforeAll(async () => {
      const low = await render('overlays/local', async (folder) => {
        for (const app of APPS) {
          const file = join(folder, 'base', app, 'ingress.yaml');
          const text = await readFile(file, 'utf8');
          const changed = text
            .replace(/limit-req-rate: \d+r\/s/, 'limit-req-rate: 1r/m')
            .replace(/limit-req-burst: '\d+'/, "limit-req-burst: '1'");
          expect(changed).not.toBe(text);
          await writeFile(file, changed);
        }
      });
      const nobody = 'http://127.0.0.1:9';
      tight = await startIngress(low, { authorize: nobody, token: nobody, resource: nobody });
    });
    afterAll(() => tight?.stop());

    it('returns OAuth errors for an unavailable app and for too many requests', async () => {
      const url = `${BASE}/api/auth/oauth/token`;
      const answers = [await tight.ask(url), await tight.ask(url), await tight.ask(url)];
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 429]);
      for (const { text, headers } of answers) {
        expect(JSON.parse(text)).toEqual({
          error: 'temporarily_unavailable',
          error_description: expect.any(String),
          error_reference: expect.stringMatching(/^[0-9a-f]{32}$/),
        });
        expect(headers).toMatchObject({
          'content-type': 'application/json',
          'retry-after': '1',
          'cache-control': 'no-store',
          'access-control-allow-origin': '*',
        });
      }
    });

    it('returns errors in the format of the API', async () => {
      const answers = [];
      for (let n = 0; n < 3; n += 1) answers.push(await tight.ask(`${API}/v2/me`));
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 429]);
      expect(answers.map(({ text }) => (JSON.parse(text) as { error: { code: string } }).error.code)).toEqual(
        ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'TOO_MANY_REQUESTS'],
      );
      for (const { text, headers } of answers) {
        expect(JSON.parse(text)).toMatchObject({ status: 'error', path: '/v2/me' });
        expect(headers['retry-after']).toBe('1');
      }
    });

    it('writes no error message about rejected requests, which would contain their query', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 4; n += 1)
        statuses.push((await tight.ask(`${AUTH}/auth/login?state=typed`, { from: '127.0.0.9' })).status);
      expect(statuses).toEqual([502, 502, 429, 429]);
      expect(await tight.logs()).not.toContain('limiting requests');
    });

    it('counts requests by the address of the connection, regardless of headers', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 3; n += 1) {
        const headers = { 'x-forwarded-for': `203.0.113.${n}`, 'x-real-ip': `203.0.113.${n}` };
        statuses.push((await tight.ask(`${AUTH}/auth/login`, { headers })).status);
      }
      expect(statuses).toEqual([502, 502, 429]);
    });
  });
});
