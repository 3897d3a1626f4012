import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import { AXE, EVERY_RULE, findings, LOOKS } from '#test/support/chromium.js';
import { ERROR_KINDS } from '../../../src/ui/errors/error-kind.js';
import { ERROR_SCENES } from './error-scenes.js';
import { SCENES } from './scenes.js';
import { openTab, type Tab, zoomText } from './focus-path.js';

export async function openTabWithAxe(locale: Locale): Promise<Tab> {
  const tab = await openTab(locale, { viewport: { width: 320, height: 640 } });
  await tab.page.addInitScript({ content: AXE });
  return tab;
}

/**
 * Checks light and dark at 320 pixels, and text at 200 %, whose contrast cannot be worse. Opens `<details>` after the
 * first check.
 */
async function findingsEverywhere(page: Page): Promise<string[]> {
  const violations = await findings(page, EVERY_RULE);
  await page
    .locator('details')
    .evaluateAll((all: HTMLDetailsElement[]) => all.forEach((details) => (details.open = true)));
  await page.emulateMedia({ colorScheme: 'dark' });
  violations.push(...(await findings(page, LOOKS)));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 640, height: 640 });
  await zoomText(page, 2);
  violations.push(...(await findings(page, LOOKS)));
  await zoomText(page, 1);
  await page.setViewportSize({ width: 320, height: 640 });
  return violations;
}

export function describeAccessibility(locale: Locale): void {
  describe(`axe in ${locale}, in light and dark, at 320 pixels and at 200 %`, () => {
    let tab: Tab;

    beforeAll(async () => {
      tab = await openTabWithAxe(locale);
    });

    afterAll(() => tab.close());

    it.each(SCENES.map((scene) => [scene.name, scene] as const))(
      'finds no violation on the page %s',
      async (_name, scene) => {
        expect(await findingsEverywhere(await tab.play(scene))).toEqual([]);
      },
    );

    it('finds no violation on any error page', async () => {
      const violations: Record<string, string[]> = {};
      for (const scene of ERROR_SCENES)
        violations[scene.name] = await findingsEverywhere(await tab.play(scene));
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
