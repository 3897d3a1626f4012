import { join } from 'node:path';
import * as oauth from 'openid-client';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/chromium.js';
import { type HttpServer, serve } from '../support/http-server.js';
import { until } from '../support/until.js';
import { OutsideProject, packIntrospection } from '../../libs/introspection/test/package/projects.js';
import { type ExampleProduct, startExampleProduct } from './example-product.js';

const SCOPE = 'bookings:read bookings:write notes:read notes:write';
const ADA = { email: 'ada@almanac.example', password: 'analytical engine' };

let bookingsApi: OutsideProject;
let product: ExampleProduct;
let chromium: Browser;
let application: HttpServer;
let redirectUri: string;
let client: oauth.Configuration;
let page: Page;

beforeAll(async () => {
  bookingsApi = await OutsideProject.from('examples/bookings-api', await packIntrospection());
  expect(await bookingsApi.compile()).toBe('');
  [product, chromium] = await Promise.all([
    startExampleProduct(join(bookingsApi.folder, 'dist/main.js')),
    launchBrowser(),
  ]);
  application = await serve((_request, response) => response.end('Back at the application.'));
  redirectUri = `${application.url}/callback`;
  const options = ['--name', 'Travel Planner', '--redirect-uri', redirectUri, '--scope', SCOPE];
  const registered = await product.operator<{ client_id: string; client_secret: string }>(
    'client',
    'create',
    ...options,
  );
  const insecure = { execute: [oauth.allowInsecureRequests] };
  const issuer = new URL(product.run.base_url);
  client = await oauth.discovery(issuer, registered.client_id, registered.client_secret, undefined, {
    ...insecure,
    algorithm: 'oauth2',
  });
});

beforeEach(async () => {
  page = await (await chromium.newContext({ locale: 'en' })).newPage();
});

afterEach(() => page?.context().close());

afterAll(async () => {
  application?.close();
  await chromium?.close();
  await product?.stop();
  await bookingsApi?.remove();
});

async function authorize(parameters: Record<string, string> = {}) {
  const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
  const expectedState = oauth.randomState();
  const url = oauth.buildAuthorizationUrl(client, {
    redirect_uri: redirectUri,
    scope: SCOPE,
    state: expectedState,
    code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...parameters,
  });
  await page.goto(url.href);
  return { pkceCodeVerifier, expectedState };
}

async function logInAtProduct(password = ADA.password): Promise<void> {
  await page.getByLabel('Email').fill(ADA.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

async function allowed(checks: oauth.AuthorizationCodeGrantChecks): Promise<oauth.TokenEndpointResponse> {
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.waitForURL(`${redirectUri}?*`);
  return oauth.authorizationCodeGrant(client, new URL(page.url()), checks);
}

const call = (url: string, token: string, init: RequestInit = {}) =>
  fetch(url, {
    ...init,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
  });
const statuses = async (token: string) => [
  (await call(`${product.bookingsUrl}/bookings`, token)).status,
  (await call(`${product.notesUrl}/notes`, token)).status,
];

describe('the example product', () => {
  it('logs its user in for an application that can use both APIs until the revocation', async () => {
    const checks = await authorize();
    expect(new URL(page.url()).origin).toBe(product.siteUrl);
    await page.getByRole('heading', { name: 'Log in to continue to Travel Planner' }).waitFor();
    await logInAtProduct('wrong password');
    expect(await page.getByRole('alert').textContent()).toBe('Incorrect email or password.');
    await logInAtProduct();

    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    expect(new URL(page.url()).origin).toBe(product.run.auth_url);
    expect(await page.title()).toContain('Almanac');
    const consent = await page.locator('main').textContent();
    for (const text of ['Ada Lovelace', 'Create bookings on your behalf', 'View your notes'])
      expect(consent).toContain(text);
    const { access_token: token, refresh_token: refreshToken } = await allowed(checks);

    const booked = await call(`${product.bookingsUrl}/bookings`, token, {
      method: 'POST',
      body: '{"title":"Paris"}',
    });
    expect(booked.status).toBe(201);
    const bookings = await call(`${product.bookingsUrl}/bookings`, token);
    expect(await bookings.json()).toMatchObject([{ title: 'Paris' }]);
    await call(`${product.notesUrl}/notes`, token, { method: 'POST', body: '{"text":"Buy a map"}' });
    const notes = await call(`${product.notesUrl}/notes`, token);
    expect(await notes.json()).toEqual({ user: 'u-1001', notes: ['Buy a map'] });

    // RFC 8707 2.2: a token for one API is not valid at another API.
    const narrow = await oauth.refreshTokenGrant(client, refreshToken ?? '', { resource: product.notesUrl });
    expect(await statuses(narrow.access_token)).toEqual([401, 200]);

    await page.goto(product.siteUrl);
    await page.getByRole('link', { name: 'Connected applications' }).click();
    await page.getByRole('link', { name: 'Remove access: Travel Planner' }).click();
    await page.getByRole('button', { name: 'Remove access' }).click();
    await until('both APIs refuse the token', 5_000, async () =>
      (await statuses(token)).every((status) => status === 401),
    );
  });

  it('skips the login for a user who is logged in at the product', async () => {
    await page.goto(product.siteUrl);
    await logInAtProduct();
    await page.getByRole('heading', { name: 'Hello Ada Lovelace' }).waitFor();
    const checks = await authorize({ prompt: 'consent' });
    const { access_token: token } = await allowed(checks);
    expect(await statuses(token)).toEqual([200, 200]);
  });

  it('returns access_denied to the application when the user cancels the login', async () => {
    await authorize();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.waitForURL(`${redirectUri}?*`);
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
  });

  it('rejects a challenge that the service did not sign', async () => {
    const answer = await fetch(`${product.siteUrl}/oauth-login?challenge=made-up`);
    expect(answer.status).toBe(400);
  });
});
