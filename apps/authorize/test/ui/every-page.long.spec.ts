import type { Page } from 'playwright-core';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { MESSAGES } from '../../src/ui/i18n/messages.js';
import { ERROR_SCENES } from './scenes/error-scenes.js';
import { problemsOf } from './scenes/accessibility.js';
import type { Scene } from './scenes/scene.js';
import { SCENES } from './scenes/scenes.js';
import { openTab, spaceText, type Tab, zoomText } from './scenes/focus-path.js';
import type { SceneFixture } from './scenes/scene-fixture.js';
import { chromium, fixture, useSceneFixture } from './scenes/use-scene-fixture.js';

const WIDTH = 320;

/** Languages that are also tested with larger and spaced text. German has the longest words. */
const TESTED_AT_EVERY_SIZE: readonly Locale[] = ['de', 'ar'];

async function problemsAtEverySize(page: Page): Promise<string[]> {
  const violations: string[] = [];
  await spaceText(page, true);
  violations.push(...(await problemsOf(page)).map((problem) => `with spaced text: ${problem}`));
  await page.setViewportSize({ width: 2 * WIDTH, height: 640 });
  await zoomText(page, 2);
  violations.push(...(await problemsOf(page)).map((problem) => `at 200 %: ${problem}`));
  await zoomText(page, 1);
  await spaceText(page, false);
  await page.setViewportSize({ width: WIDTH, height: 640 });
  return violations;
}

const MAX_BYTES = 30_000;

interface Loaded {
  readonly url: string;
  /** Encoded size including headers. */
  bytes: number;
}

async function watch(page: Page): Promise<() => Promise<Loaded[]>> {
  const cdp = await page.context().newCDPSession(page);
  let loaded = new Map<string, Loaded>();
  cdp.on('Network.requestWillBeSent', ({ requestId, loaderId, request, redirectResponse }) => {
    // The request of a document and its loader have the same id.
    if (requestId === loaderId && !redirectResponse) loaded = new Map();
    loaded.set(requestId, { url: request.url, bytes: 0 });
  });
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const resource = loaded.get(requestId);
    if (resource) resource.bytes = encodedDataLength;
  });
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  return async () => {
    await page.waitForLoadState('load');
    const unfinished = () => [...loaded.values()].some(({ bytes }) => bytes === 0);
    while (unfinished()) await new Promise((resolve) => cdp.once('Network.loadingFinished', resolve));
    return [...loaded.values()];
  };
}

/** Two pages that the test renders, and the error reference, which is for developers. */
const UNWEIGHED = ['revoke-unfinished', 'error-with-details', 'error-guide'];

const ERRORS: readonly Scene[] = [
  ['error-client', '/auth/oauth2/authorize?client_id=sc_unknown'],
  ['error-not-found', '/auth/nothing'],
].map(([name = '', path = '']) => ({
  name,
  visitor: () => null,
  open: (page: Page, { app }: SceneFixture) => page.goto(app.url + path),
}));

useSceneFixture();

describe.each(LOCALES)('in %s', (locale) => {
  const prefix = MESSAGES[locale]['error.title'].split('{')[0] ?? '';

  async function inspect(tab: Tab, scene: Scene): Promise<string[]> {
    const page = await tab.play(scene);
    const violations = await problemsOf(page);
    if (TESTED_AT_EVERY_SIZE.includes(locale)) violations.push(...(await problemsAtEverySize(page)));
    const { lang, dir, title, failed } = await page.evaluate(() => ({
      lang: document.documentElement.lang,
      dir: document.documentElement.dir,
      title: document.title,
      failed: document.querySelector('[role=alert]') !== null,
    }));
    if (lang !== locale || dir !== (locale === 'ar' ? 'rtl' : 'ltr'))
      violations.push(`has lang and dir ${lang} ${dir}`);
    // Screen readers announce the title first.
    if (failed !== title.startsWith(prefix.trim()))
      violations.push(`its title does not match its state: ${title}`);
    return violations.map((problem) => `${scene.name}: ${problem}`);
  }

  describe('every page', () => {
    const violations: string[] = [];
    const weights = new Map<string, number>();
    const foreign: string[] = [];

    // The tests share the visits, which take most of the time.
    beforeAll(async () => {
      const tab = await openTab(locale, { viewport: { width: WIDTH, height: 640 } });
      const loaded = await watch(tab.page);
      for (const scene of [...SCENES, ...ERRORS]) {
        if (ERRORS.includes(scene)) await tab.play(scene);
        else violations.push(...(await inspect(tab, scene)));
        if (UNWEIGHED.includes(scene.name)) continue;
        const all = await loaded();
        weights.set(
          scene.name,
          all.reduce((sum, { bytes }) => sum + bytes, 0),
        );
        foreign.push(...all.map(({ url }) => url).filter((url) => new URL(url).origin !== fixture.app.url));
      }
      await tab.close();
    });

    it('fits 320 pixels, has large targets, and shows its state in the title', () => {
      expect(violations).toEqual([]);
    });

    it('and its resources total less than 30 KB and come from this site', () => {
      expect([...weights].filter(([, bytes]) => bytes >= MAX_BYTES)).toEqual([]);
      expect(foreign).toEqual([]);
      // The inline style alone is larger than 4 KB.
      expect(Math.min(...weights.values())).toBeGreaterThan(4_000);
    });
  });

  it('every error page fits 320 pixels, has large targets, and has a unique title', async () => {
    const tab = await openTab(locale, { viewport: { width: WIDTH, height: 640 } });
    const violations: string[] = [];
    const titles = new Set<string>();
    for (const scene of ERROR_SCENES) {
      violations.push(...(await inspect(tab, scene)));
      titles.add(await tab.page.title());
    }
    expect(violations).toEqual([]);
    expect(titles.size).toBe(ERROR_SCENES.length);
    await tab.close();
  });
});

it('the layout check reports defects', async () => {
  const context = await fixture.visit(chromium, null, { viewport: { width: WIDTH, height: 640 } });
  const page = await context.newPage();
  await SCENES[0]?.open(page, fixture, 'en');
  await page.evaluate(() => {
    const [heading, field, button] = ['h1', '#username', 'button.wide'].map((selector) =>
      document.querySelector(selector),
    );
    (field as HTMLElement).style.width = '400px';
    (button as HTMLElement).style.minHeight = '0';
    (button as HTMLElement).style.padding = '0';
    heading?.replaceWith(Object.assign(document.createElement('h3'), { textContent: 'x' }));
  });
  expect(await problemsOf(page)).toEqual([
    expect.stringContaining('scrolls sideways'),
    expect.stringContaining('too small: BUTTON.wide'),
    expect.stringContaining('sticks out: INPUT'),
    expect.stringContaining('headings: 3'),
  ]);
  await context.close();
});

it('the first paint needs one request, because the page contains its style', async () => {
  const { app, request, clients, people } = fixture;
  const context = await fixture.visit(chromium, people.ada, { locale: 'en' });
  const page = await context.newPage();
  await context.route('**/*', (route) =>
    route.request().resourceType() === 'document' ? route.continue() : new Promise(() => undefined),
  );
  for (const address of [request(clients.calendar, 'profile:read'), `${app.url}/auth/login`]) {
    await page.goto(address, { waitUntil: 'commit' });
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    expect(await page.locator('main').evaluate((main) => getComputedStyle(main).borderTopStyle)).toBe(
      'solid',
    );
    await context.clearCookies();
  }
  await context.close();
});
