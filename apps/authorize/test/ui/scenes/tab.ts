import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { Scene } from './scene.js';
import { chromium, world } from './stage.js';

/**
 * One tab in which scenes play one after the other: a browser and a process for each takes longer than the page
 * itself. Each has its own visitor, at an address of its own, with no cookie of the one before.
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
      await world.enter(context, scene.visitor(world));
      await scene.open(page, world, locale);
      // A click waits for the beginning of the next page, and what is looked at is the whole.
      await page.waitForLoadState();
      return page;
    },
    close: () => context.close(),
  };
}
