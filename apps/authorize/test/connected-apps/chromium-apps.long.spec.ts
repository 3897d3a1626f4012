/// <reference lib="dom" />
import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { User } from '#users/user.js';
import { freePort } from '#local/servers/free-port.js';
import { complaintsOf, launchBrowser } from '#test/support/chromium.js';
import { type AuthorizeApp, PASSWORD, startAuthorizeApp } from '../support/start-authorize-app.js';

let app: AuthorizeApp;
let chromium: Browser;
let user: User;

const open: Page[] = [];
const complaints: string[][] = [];

beforeAll(async () => {
  const port = await freePort();
  [app, chromium] = await Promise.all([
    startAuthorizeApp({ AUTH_URL: `http://127.0.0.1:${port}` }, undefined, port),
    launchBrowser(),
  ]);
});

beforeEach(async () => {
  user = await app.user();
});

afterEach(async () => {
  for (const page of open.splice(0)) await page.context().close();
  expect(complaints.splice(0).flat()).toEqual([]);
});

afterAll(async () => {
  await chromium.close();
  await app.close();
});

async function browse(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await chromium.newContext({
    viewport: { width: 320, height: 568 },
    locale: 'en',
    ...options,
  });
  const page = await context.newPage();
  complaints.push(complaintsOf(page));
  open.push(page);
  return page;
}

async function logIn(page: Page, path = '/auth/'): Promise<void> {
  await page.goto(app.url + path);
  await page.locator('#username').fill(user.email);
  await page.locator('#password').fill(PASSWORD);
  await page.locator('form button.wide').click();
  await page.waitForURL(app.url + path);
}

async function connect(name: string, userId = user.id): Promise<void> {
  const { clientId } = await app.client({ name });
  const scope = 'profile:read';
  const id = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + 1e9);
  await app.records.create({
    id,
    userId,
    clientId,
    scope,
    requestedScope: scope,
    resources: null,
    expiresAt,
  });
}

const focusedStatus = (page: Page) => page.locator('[role=status]:focus');

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('%s', (_name, javaScriptEnabled) => {
  it('revoking one application from the list moves the focus to the message', async () => {
    await connect('Calendar');
    await connect('Notes');
    const page = await browse({ javaScriptEnabled });
    await logIn(page, '/auth/apps');
    await page.getByRole('link', { name: 'Remove access: Calendar' }).click();
    // Playwright adds a space after an isolated name.
    await page.getByRole('heading', { name: /^Remove access for Calendar\s?\?$/ }).waitFor();
    await page.getByRole('button', { name: 'Remove access' }).click();
    await focusedStatus(page).waitFor();
    await page.waitForLoadState();
    expect(await focusedStatus(page).textContent()).toBe('Calendar can no longer access your account.');
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Notes']);
    await page.reload();
    expect(await page.getByRole('status').count()).toBe(0);
  });

  it('Cancel and the back button change nothing', async () => {
    await connect('Calendar');
    const page = await browse({ javaScriptEnabled });
    await logIn(page, '/auth/apps');
    await page.getByRole('link', { name: 'Remove all access' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.waitForURL(`${app.url}/auth/apps`);
    await page.getByRole('link', { name: 'Remove access: Calendar' }).click();
    await page.goBack();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Calendar']);
  });

  it('the user can revoke all applications with the keyboard only', async () => {
    await connect('Calendar');
    await connect('Notes');
    const page = await browse({ javaScriptEnabled });
    await logIn(page, '/auth/apps');
    const focused = page.locator(':focus');
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 20; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await focused.textContent())?.trim() === name) return;
      }
      throw new Error(`the keyboard does not reach ${name}`);
    };
    await tabTo('Remove all access');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/revoke-all');
    await tabTo('Remove all access');
    await page.keyboard.press('Enter');
    await focusedStatus(page).waitFor();
    expect(await focusedStatus(page).textContent()).toBe('No application can access your account any more.');
  });

  it('logging out everywhere ends the session in this tab, another tab and another browser', async () => {
    const page = await browse({ javaScriptEnabled });
    await logIn(page);
    const tab = await page.context().newPage();
    await tab.goto(`${app.url}/auth/apps`);
    const elsewhere = await browse({ javaScriptEnabled });
    await logIn(elsewhere);
    await page.getByRole('button', { name: 'Log out everywhere' }).click();
    await focusedStatus(page).waitFor();
    expect(await focusedStatus(page).textContent()).toBe('You have been logged out everywhere.');
    for (const other of [tab, elsewhere]) {
      await other.reload();
      expect(new URL(other.url()).pathname).toBe('/auth/login');
    }
    await elsewhere.goto(`${app.url}/auth/`);
    expect(new URL(elsewhere.url()).pathname).toBe('/auth/login');
  });

  it('the user can choose a language from a list of native names', async () => {
    const page = await browse({ javaScriptEnabled, locale: 'en-GB' });
    await logIn(page);
    await page.getByLabel('Language').selectOption('العربية');
    await page.getByRole('button', { name: 'Save language' }).click();
    await focusedStatus(page).waitFor();
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
    await page.getByLabel('اللغة').selectOption('browser');
    await page.getByRole('button', { name: 'حفظ اللغة' }).click();
    await page.waitForSelector('html[lang=en]');
  });

  it('each hint of the account page is closer to its button than to the next section', async () => {
    const page = await browse({ javaScriptEnabled });
    await logIn(page);
    await page.locator('#everywhere').waitFor();
    const gaps = await page.evaluate(() =>
      ['switch', 'apps'].map((id) => {
        const hint = document.getElementById(id) as HTMLElement;
        const after = hint.parentElement?.nextElementSibling as HTMLElement;
        const { top, bottom } = hint.getBoundingClientRect();
        const button = hint.previousElementSibling as HTMLElement;
        return [top - button.getBoundingClientRect().bottom, after.getBoundingClientRect().top - bottom];
      }),
    );
    expect(gaps).toHaveLength(2);
    for (const [toButton = 0, toNext = 0] of gaps) expect(toNext).toBeGreaterThan(2 * toButton);
  });

  it('the user can switch to another account', async () => {
    const page = await browse({ javaScriptEnabled });
    await logIn(page);
    const other = await app.user('Grace Hopper');
    await page.getByRole('button', { name: 'Use another account' }).click();
    await page.locator('#username').fill(other.email);
    await page.locator('#password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Grace Hopper').waitFor();
  });
});
