import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { Scene } from './scene.js';
import { chromium, fixture } from './use-scene-fixture.js';

/**
 * Tab that plays scenes in sequence, because a new browser context per scene takes longer than the page. Each scene has its own
 * visitor and address, without cookies of the previous scene.
 */
export interface Tab {
  readonly page: Page;
  play(scene: Scene): Promise<Page>;
  close(): Promise<void>;
}

export async function openTab(locale: Locale, options: BrowserContextOptions): Promise<Tab> {
  const context = await chromium.newContext({ ...options, locale });
  const page = await context.newPage();
  return {
    page,
    async play(scene) {
      await fixture.enter(context, scene.visitor(fixture));
      await scene.open(page, fixture, locale);
      // A click waits only until the next page starts to load.
      await page.waitForLoadState();
      return page;
    },
    close: () => context.close(),
  };
}
