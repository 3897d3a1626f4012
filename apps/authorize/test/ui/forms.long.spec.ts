import type { Browser, Locator, Page } from 'playwright-core';
import type { Client } from '#clients/client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { revokeUrl } from '../../src/urls.js';
import { freePort } from '#local/servers/free-port.js';
import { complaintsOf, launchBrowser } from '#test/support/chromium.js';
import { type HttpServer, serve } from '#test/support/http-server.js';
import { PUBLIC_ID_TOKEN_KEYS } from '#test/support/keys.js';
import { LOGIN_CLIENT, type OpenIdProviderServer, startOpenIdProvider } from '../support/openid-provider.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  PASSWORD,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';
import { ProductKey, PROFILE } from '../jwt-login/use-jwt-login.js';
import { waitingDevice } from '../support/waiting-device.js';

// Chromium applies the `form-action` of a page to every redirect that follows its forms, and blocks without a message.

const SCOPES = ['openid', 'profile:read', 'bookings:read'];

let chromium: Browser;
let application: HttpServer;
let frontEnd: HttpServer;
let product: HttpServer;
/** Returns the form with which the product answers a challenge. */
let logIn: (challenge: string) => Promise<{ readonly action: string; readonly assertion: string }>;
/** Referrers that the application's pages received. */
const referrers: (string | undefined)[] = [];

beforeAll(async () => {
  chromium = await launchBrowser();
  frontEnd = await serve(({ headers }, response) => {
    referrers.push(headers.referer);
    response.end('connected');
  });
  // Redirects to a program on the same device, as agents and desktop applications do.
  application = await serve(({ url = '' }, response) => {
    const target = url.startsWith('/private-use') ? 'com.example.pocket:/done' : `${frontEnd.url}/done`;
    response.writeHead(302, { Location: `${target}?from=${encodeURIComponent(url)}` }).end();
  });
  product = await serve(({ url = '' }, response) => {
    const query = new URL(url, 'http://127.0.0.1').searchParams;
    void logIn(query.get('challenge') ?? '').then(({ action, assertion }) =>
      response
        .setHeader('Content-Type', 'text/html')
        .end(
          `<form method="post" action="${action}"><input type="hidden" name="assertion" value="${assertion}"><button>Log in at the product</button></form>`,
        ),
    );
  });
});

afterAll(async () => {
  await chromium.close();
  application.close();
  frontEnd.close();
  product.close();
});

async function start(settings: Parameters<typeof startAuthorizeApp>[0]): Promise<AuthorizeApp> {
  const port = Number(new URL(settings?.AUTH_URL ?? '').port);
  return startAuthorizeApp({ ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS, ...settings }, undefined, port);
}

const callback = (path: string) => `http://localhost:${application.port}/${path}`;

const registered = (app: AuthorizeApp, path: string): Promise<Client> =>
  app.client(
    {
      scopes: SCOPES,
      deviceGrant: true,
      postLogoutRedirectUris: [callback(`${path}/bye`)],
      backchannelLogoutUri: null,
    },
    callback(path),
  );

const addressOf = (app: AuthorizeApp, { clientId, redirectUris: [redirect_uri] }: Client, more = {}) =>
  app.url +
  authorizeAddress({ client_id: clientId, redirect_uri, state: 's', scope: 'profile:read', ...more });

async function newPage(javaScriptEnabled: boolean) {
  const context = await chromium.newContext({ locale: 'en', javaScriptEnabled });
  const page = await context.newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  return { page, complaints: complaintsOf(page), requested };
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function press(page: Page, control: Locator): Promise<void> {
  // The script of the consent page briefly disables Allow.
  await page.waitForLoadState();
  await control.click({ noWaitAfter: true });
}

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('%s', (_name, javaScript) => {
  describe.each(['loopback', 'private-use'])('a callback that redirects to a %s URL', (kind) => {
    let app: AuthorizeApp;
    let client: Client;

    beforeAll(async () => {
      app = await start({ AUTH_URL: `http://127.0.0.1:${await freePort()}` });
      client = await registered(app, kind);
    });
    afterAll(() => app.close());

    const target = () => (kind === 'loopback' ? `${frontEnd.url}/done` : 'com.example.pocket:/done');

    async function logIn(page: Page, email: string, password = PASSWORD): Promise<void> {
      await page.locator('#username').fill(email);
      await page.locator('#password').fill(password);
      await press(page, button(page, 'Log in'));
    }

    /** Returns the request to the application, once the browser has followed the application's redirect. */
    async function arrival({
      page,
      complaints,
      requested,
    }: Awaited<ReturnType<typeof newPage>>): Promise<URL> {
      const arrived = () => requested.find((url) => url.startsWith(target()));
      if (arrived() === undefined) await page.waitForRequest((request) => request.url().startsWith(target()));
      if (kind === 'loopback') await page.waitForURL(`${target()}**`);
      expect(complaints.filter((text) => !text.includes('401 (Unauthorized)'))).toEqual([]);
      return new URL(new URL(arrived() ?? '').searchParams.get('from') ?? '', callback(''));
    }

    it.each([
      ['Allow', 'code'],
      ['Cancel', 'error'],
    ])('gets the response of %s', async (name, parameter) => {
      const tab = await newPage(javaScript);
      await tab.page.goto(addressOf(app, client));
      await logIn(tab.page, (await app.user()).email);
      await press(tab.page, button(tab.page, name));
      expect((await arrival(tab)).searchParams.has(parameter)).toBe(true);
      await tab.page.context().close();
    });

    it('gets the code of an earlier consent after the login, also after a wrong password', async () => {
      const { email } = await app.user();
      const tab = await newPage(javaScript);
      await tab.page.goto(addressOf(app, client));
      await logIn(tab.page, email);
      await press(tab.page, button(tab.page, 'Allow'));
      await arrival(tab);
      tab.requested.length = 0;
      await tab.page.goto(addressOf(app, client, { prompt: 'login' }));
      await logIn(tab.page, email, 'wrong');
      await tab.page.getByRole('alert').waitFor();
      await logIn(tab.page, email);
      expect((await arrival(tab)).searchParams.has('code')).toBe(true);
      await tab.page.context().close();
    });

    it('gets a log-out that the user has confirmed', async () => {
      const tab = await newPage(javaScript);
      await tab.page.goto(`${app.url}${ENDPOINTS.login}`);
      await logIn(tab.page, (await app.user()).email);
      await button(tab.page, 'Log out everywhere').waitFor();
      const query = new URLSearchParams({
        client_id: client.clientId,
        post_logout_redirect_uri: callback(`${kind}/bye`),
      });
      await tab.page.goto(`${app.url}${ENDPOINTS.logout}?${query.toString()}`);
      await press(tab.page, button(tab.page, 'Log out'));
      expect((await arrival(tab)).pathname).toBe(`/${kind}/bye`);
      await tab.page.context().close();
    });
  });

  it('the form that repeats a signed-JWT login leads to the page of the user', async () => {
    const key = new ProductKey();
    const app = await start({
      AUTH_URL: `http://127.0.0.1:${await freePort()}`,
      // Another site, so that the browser sends no SameSite=Lax cookie with the form of the product.
      LOGIN_URL: `http://localhost:${product.port}/login`,
      LOGIN_PUBLIC_KEY: key.pem,
    });
    logIn = async (challenge) => ({
      action: `${app.url}${ENDPOINTS.loginCallback}`,
      assertion: await key.assertion(challenge, {
        claims: { iss: `http://localhost:${product.port}`, aud: app.url, ...PROFILE },
      }),
    });
    const { page, complaints } = await newPage(javaScript);
    await page.goto(addressOf(app, await registered(app, 'loopback')));
    await press(page, button(page, 'Log in at the product'));
    if (!javaScript) await press(page, button(page, 'Continue'));
    await button(page, 'Allow').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
    await app.close();
  });

  describe('with logins at a provider, after the session has expired', () => {
    let app: AuthorizeApp;
    let provider: OpenIdProviderServer;
    let client: Client;
    let tab: Awaited<ReturnType<typeof newPage>>;

    beforeAll(async () => {
      const [AUTH_URL, providerPort] = [`http://127.0.0.1:${await freePort()}`, await freePort()];
      provider = await startOpenIdProvider(providerPort, AUTH_URL);
      app = await start({
        AUTH_URL,
        LOGIN_ISSUER: provider.issuer,
        LOGIN_CLIENT_ID: LOGIN_CLIENT.id,
        LOGIN_CLIENT_SECRET: LOGIN_CLIENT.secret,
      });
      client = await registered(app, 'loopback');
      tab = await newPage(javaScript);
      await open(`${app.url}/auth/`);
      const [user] = await app.sql<{ id: number }>('SELECT id FROM users');
      const grant = { clientId: client.clientId, scope: 'profile:read', requestedScope: 'profile:read' };
      const expiresAt = new Date(Date.now() + 86_400_000);
      await app.records.create({
        id: 'x'.repeat(43),
        userId: user?.id ?? 0,
        resources: null,
        expiresAt,
        ...grant,
      });
    });
    afterAll(async () => {
      await tab.page.context().close();
      await app.close();
      await provider.stop();
    });

    async function open(address: string): Promise<void> {
      const { page } = tab;
      await page.goto(address);
      if (new URL(page.url()).origin !== provider.issuer) return;
      const login = page.getByPlaceholder('Enter any login');
      if (await login.isVisible()) {
        await login.fill('ada');
        await page.getByPlaceholder('and password').fill('any');
        await page.getByRole('button', { name: 'Sign-in' }).click();
      }
      await page.waitForURL(`${app.url}/**`);
      await page.goto(address);
    }

    const consent = () => addressOf(app, client, { prompt: 'consent' });
    const form = (path: string) => `form[action^="${path}"] button`;
    const forms: [name: string, address: () => string, button: string][] = [
      ['Allow', consent, 'button[value=allow]'],
      ['Cancel', consent, 'button[value=deny]'],
      ['the log-out of the consent page', consent, form(ENDPOINTS.logout)],
      ['the language form', () => `${app.url}/auth/`, form(ENDPOINTS.language)],
      ['the log-out form', () => `${app.url}/auth/`, `${form(ENDPOINTS.logout)} >> nth=-1`],
      ['the log-out everywhere form', () => `${app.url}/auth/`, form(ENDPOINTS.logoutEverywhere)],
      [
        'the revocation of an application',
        () => `${app.url}${revokeUrl(client.clientId)}`,
        form(ENDPOINTS.revokeApp),
      ],
      [
        'the revocation of all applications',
        () => `${app.url}${ENDPOINTS.revokeAllApps}`,
        form(ENDPOINTS.revokeAllApps),
      ],
      ['the device form', () => `${app.url}${ENDPOINTS.device}`, form(ENDPOINTS.device)],
      ['the decision on a device', () => `${app.url}${ENDPOINTS.device}`, 'button[value=allow]'],
      [
        'the confirmed log-out',
        () => `${app.url}${ENDPOINTS.logout}?client_id=${client.clientId}`,
        form(ENDPOINTS.logoutConfirm),
      ],
    ];

    it.each(forms)('%s continues at a page', async (name, address, submit) => {
      const { page, complaints } = tab;
      await open(address());
      const code = page.locator('#user_code');
      if (await code.isVisible()) {
        await code.fill((await waitingDevice(app, client, 'profile:read')).userCode);
        if (name.includes('decision')) await press(page, page.locator(form(ENDPOINTS.device)));
      }
      const pressed = page.locator(submit);
      await pressed.waitFor();
      await app.redis.del(...(await app.redis.keys('session:*')));
      const continued = page.waitForRequest(
        (request) => request.method() === 'GET' && request.isNavigationRequest(),
      );
      await press(page, pressed);
      await continued;
      await page.locator('h1').first().waitFor();
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    });
  });
});

it('the application gets no Referer', () => {
  expect(referrers.length).toBeGreaterThan(0);
  expect(referrers.filter((referrer) => referrer !== undefined)).toEqual([]);
});
