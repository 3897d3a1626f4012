import type { Page } from 'playwright-core';

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
