import type { Browser } from 'playwright-core';
import { launchBrowser } from '#test/support/chromium.js';
import { type Settings, startWorld, type World } from './world.js';

/** Test environment and browser, started for every spec that imports this file. */
export let world: World;
export let chromium: Browser;

let settings: Settings = {};

/** Overrides the app's settings in a spec, such as the brand. Must be called before the first test. */
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
