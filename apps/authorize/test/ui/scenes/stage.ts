import type { Browser } from 'playwright-core';
import { launchBrowser } from '#test/support/browser.js';
import { type Settings, startWorld, type World } from './world.js';

/** The world that the scenes play in, and the browser that looks at it: who imports them has both for all of its tests. */
export let world: World;
export let chromium: Browser;

let settings: Settings = {};

/** Gives the app of a spec other settings, such as those of another brand. Call it before the first test. */
export function dressAs(others: Settings): void {
  settings = others;
}

beforeAll(async () => {
  [world, chromium] = await Promise.all([startWorld(settings), launchBrowser()]);
});

afterAll(async () => {
  await chromium.close();
  await world.close();
});
