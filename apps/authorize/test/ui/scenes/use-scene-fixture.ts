import type { Browser } from 'playwright-core';
import { launchBrowser } from '#test/support/chromium.js';
import { type Settings, openSceneFixture, type SceneFixture } from './scene-fixture.js';

export let fixture: SceneFixture;
export let chromium: Browser;

/** Starts the test environment and a browser for the suite. @param settings overrides the app's, such as the brand */
export function useSceneFixture(settings: Settings = {}): void {
  beforeAll(async () => {
    [fixture, chromium] = await Promise.all([openSceneFixture(settings), launchBrowser()]);
  });

  afterAll(async () => {
    await chromium.close();
    await fixture.close();
  });
}
