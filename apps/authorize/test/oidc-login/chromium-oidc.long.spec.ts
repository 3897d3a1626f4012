import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePort } from '#local/servers/free-port.js';
import { launchBrowser } from '#test/support/chromium.js';
import { type HttpServer, serve } from '#test/support/http-server.js';
import { type AuthorizeApp, authorizeAddress, startAuthorizeApp } from '../support/start-authorize-app.js';
import { LOGIN_CLIENT, type OpenIdProviderServer, startOpenIdProvider } from '../support/openid-provider.js';

let app: AuthorizeApp;
let provider: OpenIdProviderServer;
let chromium: Browser;
let application: HttpServer;
let redirectUri: string;
let clientId: string;
let context: BrowserContext;
let page: Page;
let login: string;

beforeAll(async () => {
  const [port, providerPort] = [await freePort(), await freePort()];
  const authUrl = `http://127.0.0.1:${port}`;
  provider = await startOpenIdProvider(providerPort, authUrl);
  [app, chromium] = await Promise.all([
    startAuthorizeApp(
      {
        AUTH_URL: authUrl,
        LOGIN_ISSUER: provider.issuer,
        LOGIN_CLIENT_ID: LOGIN_CLIENT.id,
        LOGIN_CLIENT_SECRET: LOGIN_CLIENT.secret,
      },
      undefined,
      port,
    ),
    launchBrowser(),
  ]);
  application = await serve((_request, response) => response.end('connected'));
  redirectUri = `${application.url}/callback`;
  ({ clientId } = await app.client({}, redirectUri));
});

afterAll(async () => {
  await chromium.close();
  application.close();
  await app.close();
  await provider.stop();
});

beforeEach(async () => {
  login = `ada${randomBytes(6).toString('hex')}`;
  provider.accounts.set(login, { name: 'Ada Lovelace', preferred_username: login });
  context = await chromium.newContext({ locale: 'en' });
  page = await context.newPage();
});

afterEach(() => context.close());

const address = (more: Record<string, string> = {}): string =>
  app.url + authorizeAddress({ client_id: clientId, redirect_uri: redirectUri, state: 's', ...more });

async function logInAtProvider(on: Page = page, name = login): Promise<void> {
  await on.getByPlaceholder('Enter any login').fill(name);
  await on.getByPlaceholder('and password').fill('any');
  await on.getByRole('button', { name: 'Sign-in' }).click();
}

const button = (name: string, on: Page = page) => on.getByRole('button', { name, exact: true });

async function allow(on: Page = page): Promise<void> {
  await button('Allow', on).waitFor();
  await on.waitForLoadState();
  await button('Allow', on).click();
}

async function arrival(on: Page = page): Promise<Record<string, string>> {
  await on.waitForURL(`${redirectUri}?**`);
  return Object.fromEntries(new URL(on.url()).searchParams);
}

const atProvider = (on: Page = page) => on.waitForURL(`${provider.issuer}/**`);

const users = () =>
  app.sql<{ id: number; name: string; email: string; issuer: string }>(
    'SELECT id, name, email, issuer FROM users WHERE external_id = $1',
    [login],
  );

describe('a login', () => {
  // OpenID Connect Core 3.1.2.1
  it('redirects to the provider and back to the request, and creates the user', async () => {
    await page.goto(address());
    expect(new URL(page.url()).origin).toBe(provider.issuer);
    await logInAtProvider();
    await allow();
    expect(await arrival()).toMatchObject({ code: expect.stringMatching(/^sac_/), state: 's' });
    expect(await users()).toEqual([
      {
        id: expect.any(Number),
        name: 'Ada Lovelace',
        email: `${login}@example.com`,
        issuer: provider.issuer,
      },
    ]);
  });

  it('redirects to the account page without an authorization request, and updates the user', async () => {
    await page.goto(`${app.url}/auth/`);
    await logInAtProvider();
    await page.getByText('Ada Lovelace').waitFor();
    provider.accounts.set(login, { name: 'Ada King' });
    await context.clearCookies({ domain: '127.0.0.1' });
    await page.goto(`${app.url}/auth/`);
    await page.getByText('Ada King').waitFor();
    expect(await users()).toHaveLength(1);
  });

  it('can be completed in each of several tabs, in any order', async () => {
    const tabs = [page, await context.newPage(), await context.newPage()];
    for (const [index, tab] of tabs.entries()) await tab.goto(address({ state: `tab${index}` }));
    for (const tab of tabs.toReversed()) await logInAtProvider(tab);
    for (const tab of tabs) await tab.goto(address({ state: `tab${tabs.indexOf(tab)}` }));
    for (const [index, tab] of tabs.entries()) {
      await allow(tab);
      expect(await arrival(tab)).toMatchObject({ state: `tab${index}`, code: expect.any(String) });
    }
  });

  it('can be restarted with its authorization request after a cancellation', async () => {
    await page.goto(address());
    await page.getByText('[ Cancel ]').click();
    await page.getByRole('heading', { name: 'You are not logged in' }).waitFor();
    await page.getByRole('link', { name: 'Start again' }).click();
    await logInAtProvider();
    await allow();
    expect(await arrival()).toMatchObject({ state: 's', code: expect.any(String) });
  });

  it('can continue after the back button', async () => {
    await page.goto(address());
    await logInAtProvider();
    await button('Allow').waitFor();
    await page.goBack();
    await page.goto(address());
    await allow();
    expect(await arrival()).toMatchObject({ code: expect.any(String) });
  });

  // OpenID Connect Core 3.1.2.1
  it('is repeated at the provider for prompt=login and for max_age', async () => {
    await page.goto(address());
    await logInAtProvider();
    await button('Allow').waitFor();
    await page.goto(address({ prompt: 'login', login_hint: 'ada', ui_locales: 'de', state: 'again' }));
    await atProvider();
    expect(await page.getByPlaceholder('Enter any login').inputValue()).toBe('ada');
    await logInAtProvider();
    await button('Zulassen').waitFor();
    await page.goto(address({ max_age: '0', state: 'young' }));
    await atProvider();
    await logInAtProvider();
    await allow();
    expect(await arrival()).toMatchObject({ state: 'young', code: expect.any(String) });
  });

  // OpenID Connect Core 3.1.2.6
  it('does not redirect to the provider for prompt=none', async () => {
    await page.goto(address({ prompt: 'none' }));
    expect(await arrival()).toMatchObject({ error: 'login_required', state: 's' });
  });

  it('shows an error page to a disabled user', async () => {
    await page.goto(`${app.url}/auth/`);
    await logInAtProvider();
    await page.getByText('Ada Lovelace').waitFor();
    const [user] = await users();
    await app.accounts.disable(user?.id ?? 0);
    await page.goto(`${app.url}/auth/`);
    await page.getByRole('heading', { name: 'Your account is disabled' }).waitFor();
  });
});

describe('a logout', () => {
  beforeEach(async () => {
    await page.goto(`${app.url}/auth/`);
    await logInAtProvider();
    await page.getByText('Ada Lovelace').waitFor();
  });

  // Section 2 of OpenID Connect RP-Initiated Logout 1.0
  it('also ends the session at the provider, so that the next login asks for the password', async () => {
    const seen: string[] = [];
    page.on('request', (request) => seen.push(request.url()));
    await button('Log out').click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByText('You have been logged out.').waitFor();
    expect(page.url()).toMatch(/\/auth\/logout$/);
    const hint = seen
      .map((url) => new URL(url).searchParams.get('id_token_hint'))
      .find((match) => match !== null);
    expect(hint).toMatch(/^eyJ/);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByPlaceholder('Enter any login').waitFor();
  });

  it('everywhere shows a confirmation', async () => {
    await button('Log out everywhere').click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByText('You have been logged out everywhere.').waitFor();
  });

  it('from the consent page allows the user to choose another account at the provider', async () => {
    await page.goto(address());
    await button('Not you? Use another account').click();
    await atProvider();
    const other = `${login}2`;
    await logInAtProvider(page, other);
    await page.getByText(`${other}@example.com`).first().waitFor();
    await allow();
    expect(await arrival()).toMatchObject({ state: 's', code: expect.any(String) });
  });
});

it('a logged-in user can continue while the provider is down, but other users get an error page', async () => {
  await page.goto(address());
  await logInAtProvider();
  await button('Allow').waitFor();
  const other = await chromium.newContext({ locale: 'en' });
  const visitor = await other.newPage();
  await provider.stop();
  try {
    // Moves the clock beyond the lifetime of cached metadata.
    app.clock.ahead = 60_000;
    const answer = await visitor.goto(address());
    app.clock.ahead = 0;
    expect(answer?.status()).toBe(503);
    await visitor.getByRole('heading', { name: 'Login is temporarily unavailable' }).waitFor();
    await page.goto(address());
    await allow();
    expect(await arrival()).toMatchObject({ code: expect.any(String) });
  } finally {
    await provider.start();
  }
  await visitor.getByRole('link', { name: 'Try again' }).click();
  await logInAtProvider(visitor);
  expect(await arrival(visitor)).toMatchObject({ code: expect.any(String) });
  await other.close();
});
