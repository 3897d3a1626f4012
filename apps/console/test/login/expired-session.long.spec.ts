import type { Browser as Chromium, Locator, Page, Response } from 'playwright-core';
import { freePort } from '#local/servers/free-port.js';
import { launchBrowser } from '#test/support/chromium.js';
import { storeClient } from '#test/support/stored-client.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

let app: ConsoleApp;
let chromium: Chromium;
let origin: string;

beforeAll(async () => {
  const PORT = await freePort();
  origin = `http://localhost:${PORT}`;
  app = await startConsoleApp({ PORT, CONSOLE_URL: origin });
  chromium = await launchBrowser();
});

afterAll(async () => {
  await chromium?.close();
  await app?.close();
});

/** Opens a page in a tab in which an admin is logged in, without JavaScript. */
async function adminTab(path: string): Promise<Page> {
  app.clock.ahead = 0;
  await app.resetRateLimits();
  const { cookies } = await app.operator('admin');
  const context = await chromium.newContext({ locale: 'en', javaScriptEnabled: false });
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
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

const nameOf = async (form: Locator): Promise<string> =>
  `${await form.getAttribute('method')} ${kindOf((await form.getAttribute('action')) ?? '')}`;

/** Submits a form. @returns the page of the console at which the browser ends; null if the browser stays at the form */
async function submit(page: Page, form: Locator): Promise<string | null> {
  const isEnd = (response: Response): boolean => {
    const { origin: site, pathname } = new URL(response.url());
    const isPage = response.request().isNavigationRequest() && response.status() !== 303;
    return isPage && site === origin && !pathname.startsWith('/login');
  };
  const [end] = await Promise.all([
    page.waitForResponse(isEnd).catch(() => null),
    form.locator('button').first().click(),
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
    const page = await adminTab(path);
    const names = await Promise.all((await page.locator('form').all()).map(nameOf));
    await page.context().close();
    for (const [at, name] of names.entries()) {
      if (ends.has(name)) continue;
      const tab = await adminTab(path);
      const form = tab.locator('form').nth(at);
      await fill(form);
      await expire();
      ends.set(name, await submit(tab, form));
      await tab.context().close();
    }
  }
  return ends;
}

describe('every form of the console', () => {
  let paths: readonly string[];

  beforeAll(async () => {
    await storeClient(app, `sc_${'a'.repeat(24)}`);
    paths = await crawl('/applications', '/users', '/jobs', '/events', '/audit', '/health');
  });

  it('opens the login provider after the end of the session', async () => {
    const ends = await submitForms(paths, endSessions);
    console.log(paths, ends);
    expect([...ends].filter(([, page]) => !page?.startsWith('200'))).toEqual([]);
  }, 600_000);

  it('opens the login provider if the form needs a newer login', async () => {
    const ends = await submitForms(paths, () => {
      app.clock.ahead = 11 * 60_000;
    });
    console.log(paths, ends);
    expect([...ends].filter(([, page]) => !page?.startsWith('200'))).toEqual([]);
  }, 600_000);
});
