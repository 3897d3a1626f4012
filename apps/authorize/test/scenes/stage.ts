import type { Browser } from 'playwright-core';
import { launchBrowser } from '#testing/browser.js';
import { startWorld, type World } from './world.js';

/** The world that the scenes play in, and the browser that looks at it: who imports them has both for all of its tests. */
export let world: World;
export let chromium: Browser;

beforeAll(async () => {
  [world, chromium] = await Promise.all([startWorld(), launchBrowser()]);
});

afterAll(async () => {
  await chromium.close();
  await world.close();
});
