import type { Page } from 'playwright-core';
import { LOCALES } from '#oauth/locale.js';
import type { Scene } from './scenes/scene.js';
import { SCENES } from './scenes/scenes.js';
import { chromium, fixture, useSceneFixture } from './scenes/use-scene-fixture.js';
import { openTab } from './scenes/focus-path.js';
import type { SceneFixture } from './scenes/scene-fixture.js';

useSceneFixture();

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

/** Excludes two pages that the test renders, and the error reference, which is for developers. */
const SERVED = SCENES.filter(
  ({ name }) => !['revoke-unfinished', 'error-with-details', 'error-guide'].includes(name),
);

const ERRORS: readonly Scene[] = [
  ['error-client', '/auth/oauth2/authorize?client_id=sc_unknown'],
  ['error-not-found', '/auth/nothing'],
].map(([name = '', path = '']) => ({
  name,
  visitor: () => null,
  open: (page: Page, { app }: SceneFixture) => page.goto(app.url + path),
}));

it.each(LOCALES)(
  'every page and its resources total less than 30 KB and come from this site: %s',
  async (locale) => {
    const weights: Record<string, number> = {};
    const foreign: string[] = [];
    const tab = await openTab(locale, {});
    const loaded = await watch(tab.page);
    for (const scene of [...SERVED, ...ERRORS]) {
      await tab.play(scene);
      const all = await loaded();
      weights[scene.name] = all.reduce((sum, { bytes }) => sum + bytes, 0);
      foreign.push(...all.map(({ url }) => url).filter((url) => new URL(url).origin !== fixture.app.url));
    }
    await tab.close();
    expect(Object.entries(weights).filter(([, bytes]) => bytes >= MAX_BYTES)).toEqual([]);
    expect(foreign).toEqual([]);
    // The inline style alone is larger than 4 KB.
    expect(Math.min(...Object.values(weights))).toBeGreaterThan(4_000);
  },
);

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
