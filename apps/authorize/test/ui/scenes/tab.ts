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

/** Scales text like the browser's text size setting (WCAG 2.2, 1.4.4). */
export async function zoomText(page: Page, factor: number): Promise<void> {
  await page.evaluate((size) => (document.documentElement.style.fontSize = size), `${factor * 100}%`);
}

/** Applies the text spacing of WCAG 2.2, 1.4.12. */
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
