import type { Browser } from 'playwright-core';
import { launchBrowser } from '#test/support/chromium.js';
import { type Settings, openSceneFixture, type SceneFixture } from './scene-fixture.js';

export let fixture: SceneFixture;
export let chromium: Browser;

export function useSceneFixture(settings: Settings = {}): void {
  beforeAll(async () => {
    [fixture, chromium] = await Promise.all([openSceneFixture(settings), launchBrowser()]);
  });

  afterAll(async () => {
    await chromium.close();
    await fixture.close();
  });
}
