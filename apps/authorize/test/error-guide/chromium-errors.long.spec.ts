import { request } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { User } from '#users/user.js';
import { freePort } from '#local/servers/free-port.js';
import { launchBrowser } from '#test/support/chromium.js';
import { type HttpServer, serve } from '#test/support/http-server.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  PASSWORD,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';

let port: number;
let app: AuthorizeApp;
let user: User;
let chromium: Browser;
let callback: HttpServer;
let redirectUri: string;
let clientId: string;

beforeAll(async () => {
  port = await freePort();
  [app, chromium] = await Promise.all([
    startAuthorizeApp({ AUTH_URL: `http://localhost:${port}` }, undefined, port),
    launchBrowser(),
  ]);
  callback = await serve((_request, response) => response.end('connected'));
  redirectUri = `http://localhost:${callback.port}/callback`;
  ({ clientId } = await app.client({}, redirectUri));
});

beforeEach(async () => {
  user = await app.user();
});

afterAll(async () => {
  await chromium.close();
  callback.close();
  await app.close();
});

const pathOf = (state: string) =>
  authorizeAddress({ client_id: clientId, redirect_uri: redirectUri, state, prompt: 'consent' });
const address = (state = 's', host = 'localhost') => `http://${host}:${port}${pathOf(state)}`;

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const logInButton = (page: Page) => page.getByRole('button', { name: 'Log in' });
const allowButton = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true });

async function logIn(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email or username').fill(user.email);
  await page.locator('input[type=password]').fill(password);
  await logInButton(page).click();
}

async function consentShown(page: Page): Promise<void> {
  await allowButton(page).waitFor();
  await page.waitForLoadState();
}

async function allow(page: Page, state = 's'): Promise<void> {
  await consentShown(page);
  await allowButton(page).click();
  await page.waitForURL(`${redirectUri}**`);
  const { searchParams } = new URL(page.url());
  expect([searchParams.get('state'), searchParams.get('code')]).toEqual([
    state,
    expect.stringMatching(/^sac_/),
  ]);
}

async function logOut(page: Page): Promise<void> {
  await page.goto(`http://localhost:${port}/auth/`);
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await logInButton(page).waitFor();
}

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('%s', (_name, javaScriptEnabled) => {
  let context: BrowserContext;

  beforeEach(async () => {
    context = await chromium.newContext({ javaScriptEnabled, locale: 'en' });
  });

  afterEach(() => context.close());

  const open = async (url: string) => {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };

  it('a login without its cookie shows the cause, and can be restarted', async () => {
    const page = await open(address());
    await context.clearCookies();
    await logIn(page);
    expect(await heading(page)).toBe('Your browser did not send our cookie');
    expect(await page.title()).toMatch(/^Error: /);
    expect(await page.getByRole('alert').textContent()).toContain('may block them');
    await page.getByRole('link', { name: 'Start again' }).click();
    await logIn(page);
    await allow(page);
  });

  it('the use of 127.0.0.1 instead of localhost is explained if the cookie is missing', async () => {
    const page = await open(address('s', '127.0.0.1'));
    await logIn(page);
    await consentShown(page);
    await context.clearCookies();
    await allowButton(page).click();
    expect(await heading(page)).toBe('This page was opened at a different address');
    const message = await page.getByRole('alert').textContent();
    expect(message).toContain(`http://127.0.0.1:${port}`);
    expect(message).toContain(`http://localhost:${port}`);
    await page.getByRole('link', { name: 'Start again' }).click();
    await logInButton(page).waitFor();
    expect(new URL(page.url()).origin).toBe(`http://localhost:${port}`);
    await logIn(page);
    await allow(page);
  });

  it('a second tab with the login page continues its own request', async () => {
    const [one, two] = [await open(address('one')), await open(address('two'))];
    await logIn(one);
    await allowButton(one).waitFor();
    await logIn(two);
    await allow(two, 'two');
    await allow(one, 'one');
  });

  it('Allow after a logout in another tab creates no grant, and offers to restart the request', async () => {
    const one = await open(address('one'));
    await logIn(one);
    await consentShown(one);
    await logOut(await context.newPage());
    await allowButton(one).click();
    expect(await heading(one)).toBe('This page is out of date');
    expect(await app.sql('SELECT 1 FROM grants WHERE user_id = $1', [user.id])).toEqual([]);
    await one.getByRole('link', { name: 'Start again' }).click();
    await logIn(one);
    await allow(one, 'one');
  });

  it('the back button after the login and after Allow shows no error', async () => {
    const page = await open(address());
    await logIn(page);
    await allowButton(page).waitFor();
    await page.goBack();
    // The login page is not cached, and redirects a logged-in user to the consent page.
    await allowButton(page).waitFor();
    await allow(page);
    await page.goBack();
    await allow(page);
  });

  it('reloading a page does not repeat an action or fail', async () => {
    const page = await open(address());
    await logIn(page, 'wrong');
    await page.getByRole('alert').waitFor();
    await page.reload();
    expect(await page.getByRole('alert').textContent()).toContain('Incorrect');
    await logIn(page);
    await allowButton(page).waitFor();
    await page.reload();
    await allow(page);
    await logOut(page);
    await page.reload();
    expect(await heading(page)).toBe('Log in');
  });

  it('the option that registers a redirect URI is not wrapped at its hyphens on a narrow screen', async () => {
    const page = await open(address().replace('%2Fcallback', '%2Fnowhere'));
    await page.setViewportSize({ width: 320, height: 568 });
    await page.locator('summary').click();
    const option = page.getByText('--add-redirect-uri', { exact: true });
    await option.waitFor();
    const height = (await option.boundingBox())?.height ?? 0;
    expect(height).toBeGreaterThan(0);
    expect(height).toBeLessThan(30);
  });

  it('the developer details can be opened with the keyboard only', async () => {
    const page = await open(address().replace(clientId, 'sc_nobody'));
    expect(await heading(page)).toBe('Application not found');
    expect(await page.getByText('is for an application that is not registered here').count()).toBe(1);
    const description = page.getByText('no application is registered under this client_id');
    expect(await description.isVisible()).toBe(false);
    // The first Tab reaches the link that leads on.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await description.waitFor({ state: 'visible' });
  });
});

it('the error page explains that a proxy must use https, and links to https', async () => {
  const secure = await startAuthorizeApp({ AUTH_URL: 'https://auth.example.com' });
  // Simulates a misconfigured proxy that forwards http without redirecting to https.
  const proxy = await serve((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const forwarded = request(new URL(new URL(url).pathname, secure.url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  const context = await chromium.newContext({ proxy: { server: proxy.url }, locale: 'en' });
  try {
    const page = await context.newPage();
    await page.goto('http://auth.example.com/auth/login');
    await logIn(page);
    expect(await heading(page)).toBe('This page was not opened over https');
    const link = page.getByRole('link', { name: 'Start again' });
    expect(await link.getAttribute('href')).toBe('https://auth.example.com/auth/login');
    await page.getByText('For developers').click();
    expect(await page.getByText('X-Forwarded-Proto').isVisible()).toBe(true);
  } finally {
    await context.close();
    proxy.close();
    await secure.close();
  }
});

it('another site cannot submit the forms of this service', async () => {
  const context = await chromium.newContext({ locale: 'en' });
  const page = await context.newPage();
  await page.goto(address());
  await logIn(page);
  await allowButton(page).waitFor();
  const action = `http://localhost:${port}/auth/logout`;
  const evil = await serve((_request, response) => {
    response
      .setHeader('Content-Type', 'text/html')
      .end(`<form method=post action="${action}"><button>x</button></form>`);
  });
  try {
    await page.goto(evil.url);
    await page.getByRole('button').click();
    expect(await heading(page)).toBe('This form came from another site');
    expect(await page.getByRole('link').getAttribute('href')).toBe('/auth/');
    await page.goto(`http://localhost:${port}/auth/`);
    expect(await page.getByRole('button', { name: 'Log out', exact: true }).count()).toBe(1);
  } finally {
    await context.close();
    evil.close();
  }
});
