import type { BrowserContext, Browser as Chromium, Locator, Page, Response } from 'playwright-core';
import sharp from 'sharp';
import { freePort } from '#local/servers/free-port.js';
import type { Browser } from '#test/support/browser.js';
import { launchBrowser } from '#test/support/chromium.js';
import { storeClientWithSecret } from '#test/support/stored.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

const CLIENT = `sc_${'a'.repeat(24)}`;
const PAGE = `/applications/${CLIENT}`;

let app: ConsoleApp;
let chromium: Chromium;
let context: BrowserContext;
let origin: string;

beforeAll(async () => {
  const PORT = await freePort();
  origin = `http://localhost:${PORT}`;
  app = await startConsoleApp({ PORT, CONSOLE_URL: origin });
  chromium = await launchBrowser();
  context = await chromium.newContext({ locale: 'en', javaScriptEnabled: false });
  context.setDefaultTimeout(20_000);
  await storeClientWithSecret(app, CLIENT);
  const user = { email: 'grace@example.com', username: 'grace', name: 'Grace' };
  await app.users.create({ ...user, passwordHash: '$argon2id$nobody logs in with this' });
});

afterAll(async () => {
  await chromium?.close();
  await app?.close();
});

/** Returns a browser in which an admin has just logged in. */
async function admin(): Promise<Browser> {
  app.clock.ahead = 0;
  await app.resetRateLimits();
  return app.operator('admin');
}

/** Opens a page in the only tab, as an admin who has just logged in, without JavaScript. */
async function adminTab(path: string): Promise<Page> {
  const { cookies } = await admin();
  for (const page of context.pages()) await page.close();
  await context.clearCookies();
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
  const page = await context.newPage();
  await page.goto(origin + path);
  return page;
}

const endSessions = async (): Promise<void> => {
  await app.redis.del('none', ...(await app.redis.keys('console:session:*')));
};

/** Returns the path without query and ids, which is equal for pages of the same kind. */
function kindOf(path: string): string {
  const [kind = ''] = path.split('?', 1);
  return kind.replaceAll(/(?<=\/)(?:sc_\w+|\d+|[\w-]{22})(?=\/|$)/g, ':id');
}

/** Opens every page that a link leads to, one of each kind. @returns their paths */
async function crawl(...starts: readonly string[]): Promise<string[]> {
  const found = new Map<string, string>();
  const queue = [...starts];
  const browser = await app.operator('admin');
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (found.has(kindOf(path))) continue;
    const { text, type } = await browser.get(path);
    if (type !== 'text/html') continue;
    found.set(kindOf(path), path);
    const links = [...text.matchAll(/<a[^>]*\shref="(\/[^"#]*)"/g)];
    queue.push(...links.map(([, link = '']) => link.replaceAll('&amp;', '&')));
  }
  return [...found.values()];
}

async function fill(form: Locator): Promise<void> {
  for (const field of await form.locator('[required]').all()) await field.fill('https://rooms.example.com/x');
  for (const box of await form.locator('td input[type=checkbox]').all()) await box.check();
}

/** Returns the method of a form and the kind of its page. */
function nameOf(tag: string): string {
  const [method = '', action = ''] = ['method', 'action'].map((name) => tag.match(`${name}="([^"]*)"`)?.[1]);
  return `${method} ${kindOf(action)}`;
}

/** Submits a form. @returns the page of the console at which the browser ends; null if the browser stays at the form */
async function submit(page: Page, form: Locator, name?: string): Promise<string | null> {
  const isEnd = (response: Response): boolean => {
    const { origin: site, pathname } = new URL(response.url());
    const isPage = response.request().isNavigationRequest() && response.status() !== 303;
    return isPage && site === origin && !pathname.startsWith('/login');
  };
  const [end] = await Promise.all([
    page.waitForResponse(isEnd).catch(() => null),
    (name === undefined ? form.locator('button') : form.getByRole('button', { name })).first().click(),
  ]);
  return end && `${end.status()} ${kindOf(new URL(end.url()).pathname)}`;
}

/** Submits each form of the pages after the login has expired. @returns the page at which each form ends */
async function submitForms(
  paths: readonly string[],
  expire: () => Promise<void> | void,
): Promise<Map<string, string | null>> {
  const ends = new Map<string, string | null>();
  for (const path of paths) {
    const { text } = await (await admin()).get(path);
    const names = [...text.matchAll(/<form[^>]*>/g)].map(([tag]) => nameOf(tag));
    for (const [at, name] of names.entries()) {
      if (ends.has(name)) continue;
      const page = await adminTab(path);
      const form = page.locator('form').nth(at);
      await fill(form);
      await expire();
      ends.set(name, await submit(page, form));
    }
  }
  return ends;
}

describe('every form of the console', () => {
  let paths: readonly string[];

  beforeAll(async () => {
    paths = await crawl(PAGE, '/applications', '/users', '/jobs', '/events', '/audit', '/health');
  });

  it.each([
    ['after the end of the session', endSessions],
    [
      'if it needs a newer login',
      () => {
        app.clock.ahead = 11 * 60_000;
        const time = Math.floor((Date.now() + app.clock.ahead) / 1000) + 1;
        app.provider.state.forgery = { claims: { groups: ['admins'], auth_time: time } };
      },
    ],
  ])(
    'reaches a page of the console by the login %s',
    async (_, expire) => {
      const ends = await submitForms(paths, expire);
      expect(ends.size).toBeGreaterThan(15);
      // A form that needs no newer login is executed, and may be refused.
      expect([...ends].filter(([, end]) => end === null || end.startsWith('403'))).toEqual([]);
    },
    600_000,
  );
});

describe('the page after the login shows the input of', () => {
  /** Clicks a button after the end of the session, and waits for the page after the login. */
  async function sendExpired(page: Page, button: string): Promise<void> {
    await endSessions();
    expect(await submit(page, page.getByRole('main'), button)).toMatch(/^200/);
    await page.waitForLoadState();
  }

  it('an edit form', async () => {
    const page = await adminTab(`${PAGE}/edit`);
    await page.locator('[name=name]').fill('Room Finder');
    await sendExpired(page, 'Review changes');
    expect(await page.locator('[name=name]').inputValue()).toBe('Room Finder');
    await submit(page, page.getByRole('main'), 'Review changes');
    expect(await page.locator('ins').innerText()).toBe('Room Finder');
    await sendExpired(page, 'Save');
    expect(await page.locator('[name=name]').inputValue()).toBe('Room Finder');
  });

  it('a step of a new application', async () => {
    const page = await adminTab('/applications/new');
    await page.locator('[name=name]').fill('Room Finder');
    await submit(page, page.getByRole('main'), 'Next');
    await page.getByLabel('with its own keys').check();
    await sendExpired(page, 'Next');
    expect(await page.getByLabel('with its own keys').isChecked()).toBe(true);
    await submit(page, page.getByRole('main'), 'Back');
    expect(await page.locator('[name=name]').inputValue()).toBe('Room Finder');
  });

  it('a form with a file', async () => {
    const image = sharp({ create: { width: 64, height: 64, channels: 3, background: '#1d4ed8' } });
    const buffer = await image.png().toBuffer();
    const page = await adminTab(`${PAGE}/logo`);
    await page.locator('[name=logo]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
    await sendExpired(page, 'Save');
    await submit(page, page.getByRole('main'), 'Save');
    expect(await page.getByRole('status').innerText()).toBe('The logo is saved.');
    expect(await (await page.request.get(`${origin}${PAGE}/logo/image`)).body()).toEqual(buffer);
  });

  it('a search', async () => {
    const page = await adminTab('/applications');
    await page.locator('[name=search]').fill('nothing like it');
    await sendExpired(page, 'Search');
    expect(await page.locator('[name=search]').inputValue()).toBe('nothing like it');
  });

  it('a selection', async () => {
    const page = await adminTab('/applications');
    await page.locator(`[name=id][value=${CLIENT}]`).check();
    await sendExpired(page, 'Disable');
    expect(await page.locator('[name=id]').getAttribute('value')).toBe(CLIENT);
    await sendExpired(page, 'Disable');
    expect(await page.locator('[name=id]').getAttribute('value')).toBe(CLIENT);
  });
});

it('a double click on Save shows the result of the first click', async () => {
  const page = await adminTab(`${PAGE}/edit`);
  await page.locator('[name=name]').fill('Double Click');
  await submit(page, page.getByRole('main'), 'Review changes');
  await page.getByRole('button', { name: 'Save' }).dblclick({ noWaitAfter: true });
  await page.getByText('The changes are saved.').waitFor();
  await page.reload();
  expect(await page.getByRole('status').allInnerTexts()).toContain('The changes are saved.');
});
