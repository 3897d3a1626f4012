import type { Browser, Page } from 'playwright-core';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { freePort } from '#local/servers/free-port.js';
import { complaintsOf, launchBrowser, tabTo } from '#test/support/chromium.js';
import { type AuthorizeApp, PASSWORD, startAuthorizeApp } from '../support/start-authorize-app.js';
import { waitingDevice } from '../support/waiting-device.js';

let app: AuthorizeApp;
let user: User;
let client: Client;
let chromium: Browser;

beforeAll(async () => {
  const port = await freePort();
  [app, chromium] = await Promise.all([
    startAuthorizeApp({ AUTH_URL: `http://127.0.0.1:${port}` }, undefined, port),
    launchBrowser(),
  ]);
  const scopes = ['profile:read', 'bookings:read'];
  client = await app.client({
    name: 'Room display',
    scopes,
    optionalScopes: ['bookings:read'],
    deviceGrant: true,
  });
});

beforeEach(async () => {
  user = await app.user();
});

afterAll(async () => {
  await chromium.close();
  await app.close();
});

/** Waits until the script of the page, which briefly disables Allow, has enabled the button. */
async function consentReady(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
  await page.waitForLoadState();
  await page.getByRole('button', { name: 'Allow', exact: true, disabled: false }).waitFor();
}

async function logIn(page: Page): Promise<void> {
  await page.locator('#username:focus').waitFor();
  await page.keyboard.type(user.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
}

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('on a phone with the keyboard only, %s', (_name, javaScriptEnabled) => {
  async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
    const context = await chromium.newContext({
      viewport: { width: 375, height: 667 },
      javaScriptEnabled,
      locale: 'en',
    });
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(app.url + path);
    await logIn(page);
    return { page, complaints };
  }

  it('the user can type the code and allow the device', async () => {
    const { userCode, grantId } = await waitingDevice(app, client);
    const { page, complaints } = await open('/auth/device');
    await page.locator('#user_code:focus').waitFor();
    await page.keyboard.type(userCode.replace('-', '').toLowerCase());
    await page.keyboard.press('Enter');
    await consentReady(page);
    await tabTo(page, 'Allow');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/auth/apps?done');
    expect(await page.locator('[role=status]:focus').textContent()).toContain(
      'Room display on your device now has access.',
    );
    expect(await app.redis.hget(`grant:${grantId}`, 's')).toBe('p');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the user can follow the link, compare the code and cancel', async () => {
    const { userCode, grantId } = await waitingDevice(app, client);
    const { page, complaints } = await open(`/auth/device?user_code=${userCode}`);
    await page.getByText(userCode).waitFor();
    await tabTo(page, 'Continue');
    await page.keyboard.press('Enter');
    await consentReady(page);
    await tabTo(page, 'Cancel');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/auth/?done');
    expect(await app.redis.hget(`grant:${grantId}`, 's')).toBe('r');
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
