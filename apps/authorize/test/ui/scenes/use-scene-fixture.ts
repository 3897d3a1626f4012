import type { Browser } from 'playwright-core';
import { launchBrowser } from '#test/support/chromium.js';
import { type Settings, openSceneFixture, type SceneFixture } from './scene-fixture.js';

/** Test environment and browser, started for every spec that imports this file. */
export let fixture: SceneFixture;
export let chromium: Browser;

let settings: Settings = {};

/** Overrides the app's settings in a spec, such as the brand. Must be called before the first test. */
export function useSettings(others: Settings): void {
  settings = others;
}

beforeAll(async () => {
  [fixture, chromium] = await Promise.all([openSceneFixture(settings), launchBrowser()]);
});

afterAll(async () => {
  await chromium.close();
  await fixture.close();
});
