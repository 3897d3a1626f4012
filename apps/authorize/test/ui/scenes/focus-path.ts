import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { Scene } from './scene.js';
import { chromium, fixture } from './use-scene-fixture.js';

/** Returns violations of WCAG 2.2: 2.4.3 (focus order), 2.4.7 (visible), 2.4.11 (not obscured), 2.1.1 (keyboard). */
export async function focusPath(page: Page): Promise<string[]> {
  const expected = await page.evaluate(watchFocus);
  for (let step = 0; step < expected; step += 1) await page.keyboard.press('Tab');
  const steps = await page.evaluate(() => (window as unknown as { focusSteps: FocusStep[] }).focusSteps);
  const problems: string[] = [];
  const off = steps.findIndex(({ isBody }) => isBody);
  const reached = off === -1 ? steps.length : off;
  let last = { top: -1, start: -1 };
  for (const now of steps.slice(0, reached)) {
    if (!now.ring) problems.push(`focus not visible: ${now.name}`);
    if (!now.uncovered || !now.inView) problems.push(`covered: ${now.name}`);
    const before = now.top < last.top - 1 || (Math.abs(now.top - last.top) <= 1 && now.start <= last.start);
    if (before) problems.push(`out of order: ${now.name}`);
    last = { top: now.top, start: now.start };
  }
  if (reached < expected) problems.push(`only ${reached} of ${expected} are reached`);
  return problems;
}

interface FocusStep {
  readonly name: string;
  readonly top: number;
  /** Distance from the left edge of the window in pixels; for right-to-left text, from the right edge. */
  readonly start: number;
  readonly ring: boolean;
  readonly uncovered: boolean;
  readonly inView: boolean;
  readonly isBody: boolean;
}

/** Runs in the page: records the focused element on each keyup. @returns number of visible focusable elements */
function watchFocus(): number {
  // Moves the focus before the first element, even if the page has set the focus.
  const start = Object.assign(document.createElement('span'), { tabIndex: -1 });
  document.body.prepend(start);
  start.focus();
  const steps: FocusStep[] = [];
  Object.assign(window, { focusSteps: steps });
  // Records on keyup, because the focus and the scroll position change on keydown.
  const record = () => {
    const element = document.activeElement ?? document.body;
    const { top, bottom, left, right } = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    steps.push({
      name: element.outerHTML.slice(0, 120),
      top: top + scrollY,
      start: document.documentElement.dir === 'rtl' ? innerWidth - right : left,
      ring: outlineStyle === 'solid' && Number.parseFloat(outlineWidth) >= 2,
      uncovered: over !== null && (element.contains(over) || over.contains(element)),
      inView: top >= 1 && bottom <= innerHeight - 1,
      isBody: element === document.body,
    });
  };
  document.addEventListener('keyup', record, { capture: true });
  const focusable = 'a[href], button, input:not([type=hidden]), select, summary';
  return [...document.querySelectorAll(focusable)].filter((element) =>
    element.checkVisibility({ visibilityProperty: true }),
  ).length;
}

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
