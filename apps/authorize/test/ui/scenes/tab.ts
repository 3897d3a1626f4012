import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { Scene } from './scene.js';
import { chromium, fixture } from './use-scene-fixture.js';

/** Plays scenes in sequence, each with its own visitor and address, because a context per scene would be slower. */
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

export async function zoomText(page: Page, factor: number): Promise<void> {
  await page.evaluate((size) => (document.documentElement.style.fontSize = size), `${factor * 100}%`);
}

export async function spaceText(page: Page, spaced: boolean): Promise<void> {
  await page.evaluate((on) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }' +
        'p { margin-block-end: 2em !important; }',
    );
    document.adoptedStyleSheets = on ? [sheet] : [];
  }, spaced);
}
