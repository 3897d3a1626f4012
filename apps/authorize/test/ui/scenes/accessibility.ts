import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import { AXE, EVERY_RULE, findings, LOOKS, openDetails } from '#test/support/chromium.js';
import { ERROR_KINDS } from '../../../src/ui/errors/error-kind.js';
import { ERROR_SCENES } from './error-scenes.js';
import { SCENES } from './scenes.js';
import { openTab, type Tab, zoomText } from './focus-path.js';

const SMALL = { width: 320, height: 640 };

export async function openTabWithAxe(locale: Locale): Promise<Tab> {
  const tab = await openTab(locale, { viewport: SMALL });
  await tab.page.addInitScript({ content: AXE });
  return tab;
}

type Check = (page: Page) => Promise<string[]>;

export const inLight: Check = (page) => findings(page, EVERY_RULE);

export const inDark: Check = async (page) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const found = await findings(page, LOOKS);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
};

/** Checks text at 200 %, whose contrast cannot be worse. */
export const enlarged: Check = async (page) => {
  await page.setViewportSize({ width: 640, height: 640 });
  await zoomText(page, 2);
  const found = await findings(page, LOOKS, ['color-contrast']);
  await page.setViewportSize(SMALL);
  return found;
};

/** Checks every page at 320 pixels, with open `<details>`. */
export function describeAccessibility(locale: Locale, ...checks: readonly Check[]): void {
  async function violationsOf(page: Page): Promise<string[]> {
    await openDetails(page);
    const found: string[] = [];
    for (const check of checks) found.push(...(await check(page)));
    return found;
  }

  describe(`axe in ${locale}`, () => {
    let tab: Tab;

    beforeAll(async () => {
      tab = await openTabWithAxe(locale);
    });

    afterAll(() => tab.close());

    it.each(SCENES.map((scene) => [scene.name, scene] as const))(
      'finds no violation on the page %s',
      async (_name, scene) => {
        expect(await violationsOf(await tab.play(scene))).toEqual([]);
      },
    );

    it('finds no violation on any error page', async () => {
      const violations: Record<string, string[]> = {};
      for (const scene of ERROR_SCENES) violations[scene.name] = await violationsOf(await tab.play(scene));
      expect(Object.entries(violations).filter(([, list]) => list.length > 0)).toEqual([]);
      expect(Object.keys(violations)).toHaveLength(Object.keys(ERROR_KINDS).length);
    });
  });
}

/// <reference lib="dom" />

/** Violations of WCAG 2.2: 1.4.10 (reflow), 2.5.5 (44 pixels, except links in sentences), 1.3.1 (heading order). */
export function problemsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const problems: string[] = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) problems.push(`scrolls sideways: ${scrollWidth} in ${clientWidth}`);
    const name = ({ tagName, className, id }: Element) =>
      `${tagName}${className && `.${className}`}${id && `#${id}`}`;
    const visible = (element: Element) => element.checkVisibility();
    // The target of a checkbox is its label.
    const targets =
      'a[href], button, input:not([type=hidden], [type=checkbox]), select, summary, label.scope';
    for (const target of [...document.querySelectorAll(targets)].filter(visible)) {
      const { width, height } = target.getBoundingClientRect();
      const inSentence =
        target.matches('a:not([class])') && (target.parentElement?.textContent ?? '') !== target.textContent;
      if (!inSentence && Math.min(width, height) < 44)
        problems.push(`too small: ${name(target)} ${width} × ${height}`);
    }
    for (const element of [...document.querySelectorAll('main *')].filter(visible)) {
      const { left, right } = element.getBoundingClientRect();
      if (left < 0 || right > clientWidth) problems.push(`sticks out: ${name(element)}`);
    }
    const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map(({ tagName }) => Number(tagName[1]));
    const [first, ...rest] = levels;
    if (first !== 1 || rest.some((level, index) => level === 1 || level > (levels[index] ?? 0) + 1))
      problems.push(`headings: ${levels.join(' ')}`);
    return problems;
  });
}
