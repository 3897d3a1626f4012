import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import type { User } from '#directory/user.js';
import { freePort } from '#testing/backing/free-port.js';
import { launchBrowser } from '#testing/browser.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  BASE_URL,
  PASSWORD,
  startAuthorizeApp,
} from './authorize-app.js';

let app: AuthorizeApp;
let user: User;
let chromium: Browser;
let frontEnd: Server;
let callback: Server;
let address: string;

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  const port = await freePort();
  app = await startAuthorizeApp({ AUTH_URL: `http://127.0.0.1:${port}` }, undefined, port);
  user = await app.user();
  chromium = await launchBrowser();
  // An application whose callback and whose pages are different sites, as many are.
  frontEnd = createServer((_request, response) => response.end('connected'));
  await listen(frontEnd);
  callback = createServer(({ url }, response) => {
    response.writeHead(302, { Location: `http://127.0.0.1:${portOf(frontEnd)}/done${url ?? ''}` }).end();
  });
  await listen(callback);
  const redirectUri = `http://localhost:${portOf(callback)}/callback`;
  const { clientId } = await app.client({}, redirectUri);
  address = app.url + authorizeAddress({ client_id: clientId, redirect_uri: redirectUri, state: 'a&b' });
}, 60_000);

afterAll(async () => {
  await chromium.close();
  frontEnd.close();
  callback.close();
  await app.close();
});

/** A phone of the smallest size, without JavaScript; gathers what the browser complains about. */
async function open(): Promise<{ page: Page; complaints: string[] }> {
  const context = await chromium.newContext({
    viewport: { width: 320, height: 568 },
    javaScriptEnabled: false,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(address);
  return { page, complaints };
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail or user name').fill(user.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
}

it.each([
  ['Allow', { code: expect.stringMatching(/^sac_/), state: 'a&b', iss: BASE_URL }],
  ['Deny', { error: 'access_denied', error_description: expect.any(String), state: 'a&b', iss: BASE_URL }],
])('%s leads through the callback to the application’s own site', async (button, parameters) => {
  const { page, complaints } = await open();
  await logIn(page);
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.waitForURL(`http://127.0.0.1:${portOf(frontEnd)}/done/**`);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual(parameters);
  expect(complaints).toEqual([]);
  await page.context().close();
});

it('a wrong password leaves the focus in the password field, which the message describes', async () => {
  const { page } = await open();
  await page.getByLabel('E-mail or user name').fill(user.email);
  await page.getByLabel('Password').fill('wrong');
  await page.keyboard.press('Enter');
  const password = page.locator('input[type=password]:focus');
  await password.waitFor();
  expect(await password.getAttribute('aria-describedby')).toBe('problem');
  expect(await page.getByRole('alert').textContent()).toContain('not right');
  expect(await page.getByLabel('E-mail or user name').inputValue()).toBe(user.email);
  await page.context().close();
});

it('everything fits a screen of 320 pixels, and every button is 44 pixels high', async () => {
  const { page } = await open();
  const check = async () => {
    expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(320);
    for (const button of await page.getByRole('button').all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  };
  await check();
  await logIn(page);
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  await check();
  const [deny, allow] = await Promise.all(
    ['Deny', 'Allow'].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()),
  );
  expect([deny?.width, deny?.height]).toEqual([allow?.width, allow?.height]);
  await page.context().close();
});
