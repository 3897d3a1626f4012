import type { Browser as Chromium, Page } from 'playwright-core';
import { LOCALES } from '#oauth/locale.js';
import { AXE, findingsEverywhere, launchBrowser, scrollsSideways, tabTo } from '#test/support/chromium.js';
import { type DevelopersScenes, openDevelopersScenes } from './support/developers-scenes.js';

const MAX_BYTES = 40_000;

let chromium: Chromium;
let portal: DevelopersScenes;

beforeAll(async () => {
  [chromium, portal] = [await launchBrowser(), await openDevelopersScenes()];
}, 120_000);

afterAll(async () => {
  await chromium?.close();
  await portal?.close();
});

it('every page passes axe at desktop and phone width, in light and dark mode', async () => {
  const found: Record<string, string[]> = {};
  const page = await portal.tab(chromium, {});
  await page.addInitScript({ content: AXE });
  for (const [name, open] of Object.entries(portal.scenes)) {
    await open(page);
    found[name] = await findingsEverywhere(page);
  }
  await page.context().close();
  expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([]);
}, 900_000);

it.each(LOCALES)(
  'the form and the application fit a phone, in %s',
  async (locale) => {
    const page = await portal.tab(chromium, { locale, viewport: { width: 375, height: 700 } });
    for (const name of ['new request', 'application in testing', 'team']) {
      await portal.scenes[name]?.(page);
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      expect([name, await scrollsSideways(page)]).toEqual([name, false]);
    }
    await page.context().close();
  },
  120_000,
);

it('every page weighs less than 40 KB and comes from this site', async () => {
  const page = await portal.tab(chromium, {});
  const weights: Record<string, number> = {};
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(portal.origin)) foreign.push(request.url());
  });
  for (const [name, open] of Object.entries(portal.scenes)) {
    await open(page);
    weights[name] = Buffer.byteLength(await page.content());
  }
  expect(Object.entries(weights).filter(([, bytes]) => bytes > MAX_BYTES)).toEqual([]);
  expect(foreign).toEqual([]);
  await page.context().close();
}, 300_000);

describe('an owner with only a keyboard and no JavaScript', () => {
  async function activate(page: Page, name: string): Promise<void> {
    await tabTo(page, name);
    await Promise.all([page.waitForEvent('domcontentloaded'), page.keyboard.press('Enter')]);
  }

  async function type(page: Page, field: string, text: string): Promise<void> {
    await tabTo(page, field);
    await page.keyboard.type(text);
  }

  it('requests an application, answers the reviewer, goes live, finds a cause, and hands over', async () => {
    const { portal: app } = portal;
    const page = await portal.tab(chromium, { javaScriptEnabled: false });
    const textOf = (shown = page) => shown.locator('main').innerText();
    await page.goto(`${portal.origin}/`);
    await activate(page, 'New application');
    await type(page, 'name', 'Desk Finder');
    await type(page, 'purpose', 'Finds desks.');
    await type(page, 'contacts', 'help@desks.example.com');
    await type(page, 'redirectUris', 'https://desks.example.com/callback');
    await type(page, 'reason:profile:read', 'Shows the name.');
    await activate(page, 'Submit for review');
    expect(await textOf()).toMatch(/scs_[\w-]{43}/);
    const id = await page.locator('#client-id').innerText();
    await activate(page, 'Go to the application');
    expect(await textOf()).toContain('In testing');
    const application = page.url();

    await app.fixture.sql(`UPDATE client_requests SET status = 'question' WHERE client_id = $1`, [id]);
    await page.reload();
    await activate(page, 'The reviewer has a question. Read and answer it.');
    await type(page, 'text', 'All desks.');
    await activate(page, 'Send message');
    expect(await textOf()).toContain('In review');
    await app.fixture.sql(
      `UPDATE client_requests SET status = 'approved', decided_at = now() WHERE client_id = $1`,
      [id],
    );
    await app.fixture.sql(`UPDATE clients SET stage = 'live' WHERE client_id = $1`, [id]);
    await activate(page, 'Go to the application');
    expect(await textOf()).toContain('Live');

    await activate(page, 'Create a secret');
    await activate(page, 'Create a secret');
    expect(await textOf()).toMatch(/scs_[\w-]{43}/);
    await activate(page, 'Go to the application');
    await activate(page, 'Revoke');
    await activate(page, 'Revoke');
    expect(await textOf()).toContain('The secret is revoked.');

    const { reference } = await app.refusal(id);
    await activate(page, 'Requests and errors');
    await type(page, 'reference', reference);
    await activate(page, 'Show');
    await activate(page, 'The redirect_uri differs from the authorization request');
    expect(await textOf()).toContain('What you can do');

    await page.goto(application);
    await activate(page, 'Change the application');
    await type(page, 'purpose', 'A new host.');
    await tabTo(page, 'redirectUris');
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nhttps://halls.example.com/callback');
    await activate(page, 'Review the change');
    await activate(page, 'Send the change');
    expect(await textOf()).toContain('The change is submitted for review.');

    await activate(page, 'Owners and testers');
    await activate(page, 'Invite an owner');
    const { cookies } = (await app.developer()).browser;
    const colleague = await portal.tabOf(chromium, cookies, { javaScriptEnabled: false });
    await colleague.goto(await page.locator('#link').innerText());
    await activate(colleague, 'Accept');
    await activate(page, 'Owners and testers');
    await activate(page, 'Leave');
    await activate(page, 'Leave');
    expect(await textOf()).not.toContain('Desk Finder');
    await activate(colleague, 'Go to the application');
    await activate(colleague, 'Delete the application');
    await activate(colleague, 'Delete the application');
    expect(await textOf(colleague)).toContain('The application is deleted.');
    await colleague.context().close();
    await page.context().close();
  }, 180_000);
});
