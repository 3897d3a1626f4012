import type { Browser, Page } from 'playwright-core';
import type { User } from '#users/user.js';
import { freePort } from '#local/servers/free-port.js';
import { complaintsOf, launchBrowser } from '#test/support/chromium.js';
import { type HttpServer, serve } from '#test/support/http-server.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  BASE_URL,
  PASSWORD,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';

let app: AuthorizeApp;
let user: User;
let chromium: Browser;
let frontEnd: HttpServer;
let callback: HttpServer;
let address: (more?: Record<string, string>) => string;

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

beforeAll(async () => {
  const port = await freePort();
  [app, chromium] = await Promise.all([
    startAuthorizeApp({ AUTH_URL: `http://127.0.0.1:${port}` }, undefined, port),
    launchBrowser(),
  ]);
  // Many applications serve their callback and their pages from different origins.
  frontEnd = await serve((_request, response) => response.end('connected'));
  callback = await serve(({ url }, response) => {
    response.writeHead(302, { Location: `${frontEnd.url}/done${url ?? ''}` }).end();
  });
  const redirectUri = `http://localhost:${callback.port}/callback`;
  const { clientId } = await app.client(
    {
      scopes: ['profile:read', 'bookings:read', 'bookings:write'],
      optionalScopes: ['bookings:read', 'bookings:write'],
      logo: { mediaType: 'image/png', image: PIXEL },
    },
    redirectUri,
  );
  address = (more = {}) =>
    app.url + authorizeAddress({ client_id: clientId, redirect_uri: redirectUri, state: 'a&b', ...more });
});

beforeEach(async () => {
  user = await app.user();
});

afterAll(async () => {
  await chromium.close();
  frontEnd.close();
  callback.close();
  await app.close();
});

async function open(
  more: Record<string, string> = {},
  javaScriptEnabled = false,
): Promise<{ page: Page; complaints: string[] }> {
  const viewport = { width: 320, height: 568 };
  const context = await chromium.newContext({ viewport, javaScriptEnabled, locale: 'en' });
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(address(more));
  return { page, complaints };
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('Email or username').fill(user.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await consentLoaded(page);
}

/** Waits until the consent page has loaded, because its script briefly disables Allow. */
async function consentLoaded(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
  await page.waitForLoadState();
}

async function arrival(page: Page): Promise<Record<string, string>> {
  await page.waitForURL(`${frontEnd.url}/done/**`);
  return Object.fromEntries(new URL(page.url()).searchParams);
}

const CODE = { code: expect.stringMatching(/^sac_/), state: 'a&b', iss: BASE_URL };

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('%s', (_name, javaScript) => {
  it.each([
    ['Allow', CODE],
    [
      'Cancel',
      {
        error: 'access_denied',
        error_description: expect.any(String),
        error_uri: expect.any(String),
        error_reference: expect.any(String),
        state: 'a&b',
        iss: BASE_URL,
      },
    ],
  ])('%s redirects through the callback to the site of the application', async (button, parameters) => {
    const { page, complaints } = await open({}, javaScript);
    await logIn(page);
    await page.getByRole('button', { name: button, exact: true }).click();
    expect(await arrival(page)).toEqual(parameters);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('earlier consent redirects from the login directly to the site of the application', async () => {
    const { page, complaints } = await open({}, javaScript);
    await logIn(page);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await arrival(page);
    // With prompt=login, the password is required despite the session.
    await page.goto(address({ prompt: 'login' }));
    expect(await page.getByLabel('Email or username').inputValue()).toBe(user.email);
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    expect(await arrival(page)).toEqual(CODE);
    expect(complaints.filter((text) => !text.includes('401 (Unauthorized)'))).toEqual([]);
    await page.context().close();
  });

  it('the user can choose optional scopes with the keyboard only, in visual order', async () => {
    const { page, complaints } = await open(
      { scope: 'profile:read bookings:read bookings:write' },
      javaScript,
    );
    await logIn(page);
    const logo = page.locator('img.face');
    await logo.waitFor();
    expect(await logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(
      1,
    );
    // With JavaScript, Allow is disabled until the page has been visible for a moment.
    await page.getByRole('button', { name: 'Allow', exact: true }).click({ trial: true });
    await page.getByRole('button', { name: 'Not you?' }).focus();
    const focused = () => page.locator(':focus');
    await page.keyboard.press('Tab');
    expect(await focused().getAttribute('name')).toBe('allow:bookings:read');
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    expect(await focused().getAttribute('name')).toBe('allow:bookings:write');
    await page.keyboard.press('Tab');
    expect(await focused().innerText()).toBe('Connected applications');
    await page.keyboard.press('Tab');
    expect(await focused().innerText()).toBe('Cancel');
    await page.keyboard.press('Tab');
    expect(await focused().innerText()).toBe('Allow');
    await page.keyboard.press('Enter');
    expect(await arrival(page)).toEqual(CODE);
    const sql = 'SELECT scope FROM grants WHERE user_id = $1';
    expect(await app.sql(sql, [user.id])).toEqual([{ scope: 'profile:read bookings:read' }]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('Enter in a checkbox submits Cancel, so that nothing is allowed by accident', async () => {
    const { page } = await open({ scope: 'profile:read bookings:read' }, javaScript);
    await logIn(page);
    await page.getByRole('checkbox').focus();
    await page.keyboard.press('Enter');
    expect(await arrival(page)).toMatchObject({ error: 'access_denied' });
    await page.context().close();
  });

  it('Allow without a selection shows an error and focuses the first checkbox', async () => {
    const { page } = await open({ scope: 'bookings:read bookings:write' }, javaScript);
    await logIn(page);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await consentLoaded(page);
    expect(await page.locator(':focus').getAttribute('name')).toBe('allow:bookings:read');
    expect(await page.locator('fieldset').getAttribute('aria-describedby')).toBe('problem');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(await arrival(page)).toEqual(CODE);
    await page.context().close();
  });
});

it('Allow is disabled for a moment after its page gets the focus', async () => {
  const { page } = await open({}, true);
  await logIn(page);
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  await allow.click({ trial: true });
  await allow.focus();
  // Simulates a double click on a popup that closes after the first click, so that the second click hits this page.
  const waits = await page.evaluate(() => {
    const { document, window } = globalThis as unknown as {
      document: { querySelector(selector: string): { ariaDisabled: string | null; click(): void } };
      window: EventTarget;
    };
    const button = document.querySelector('button[value=allow]');
    window.dispatchEvent(new Event('focus'));
    button.click();
    return button.ariaDisabled;
  });
  expect(waits).toBe('true');
  await allow.click({ trial: true });
  expect(await app.sql('SELECT id FROM grants WHERE user_id = $1', [user.id])).toEqual([]);
  await page.keyboard.press('Enter');
  expect(await arrival(page)).toEqual(CODE);
  await page.context().close();
});

it('a double click on Allow sends one request', async () => {
  const { page } = await open({ prompt: 'login' }, true);
  await logIn(page);
  let answers = 0;
  let release: () => void = () => undefined;
  const clicked = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/auth/oauth2/authorize?**', async (route) => {
    answers += 1;
    await clicked;
    await route.continue();
  });
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  await allow.click({ trial: true });
  const { x = 0, y = 0, width = 0, height = 0 } = (await allow.boundingBox()) ?? {};
  // A locator's click would wait for the response.
  await page.mouse.dblclick(x + width / 2, y + height / 2, { delay: 100 });
  release();
  expect(await arrival(page)).toEqual(CODE);
  expect(answers).toBe(1);
  await page.context().close();
});

it('a wrong password shows an error and returns the focus to the password field', async () => {
  const { page } = await open();
  await page.getByLabel('Email or username').fill(user.email);
  await page.getByLabel('Password').fill('wrong');
  await page.keyboard.press('Enter');
  const password = page.locator('input[type=password]:focus');
  await password.waitFor();
  expect(await password.getAttribute('aria-describedby')).toBe('problem');
  expect(await page.getByRole('alert').textContent()).toContain('Incorrect');
  expect(await page.getByLabel('Email or username').inputValue()).toBe(user.email);
  await page.context().close();
});

it.each(['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'])(
  'the login page and the consent page fit 320 pixels, and every button and checkbox label is at least 44 pixels high: %s',
  async (locale) => {
    const { page } = await open({ ui_locales: locale, scope: 'profile:read bookings:read bookings:write' });
    const check = async () => {
      expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(320);
      const heights = await page
        .locator('button:visible, label.scope:visible')
        .evaluateAll((targets) => targets.map((target) => target.getBoundingClientRect().height));
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
      // The minimum of an empty list is Infinity.
      expect(heights).not.toEqual([]);
    };
    await check();
    await page.locator('#username').fill(user.email);
    await page.locator('#password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('button[value=allow]').waitFor();
    await check();
    const [cancel, allow] = await Promise.all(
      ['deny', 'allow'].map((value) => page.locator(`button[value=${value}]`).boundingBox()),
    );
    expect([cancel?.width, cancel?.height]).toEqual([allow?.width, allow?.height]);
    await page.context().close();
  },
);
