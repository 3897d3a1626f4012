import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import { ERROR_KINDS } from '../../../src/ui/errors/error-kind.js';
import { ERROR_SCENES } from './error-scenes.js';
import { SCENES } from './scenes.js';
import { openTab, type Tab, zoomText } from './tab.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules of WCAG up to 2.2 AA, and best practices. */
export const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Rules that depend on colour scheme or width. */
const LOOKS = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'];

/** Returns the violations found by axe, and the results that it cannot decide. */
export async function findings(page: Page, runOnly: string[]): Promise<string[]> {
  const options: RunOptions = { runOnly, resultTypes: ['violations', 'incomplete'] };
  return page.evaluate(async (given) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    const { violations, incomplete } = await axe.run(given);
    return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html}: ${failureSummary}`),
    );
  }, options);
}

/** Opens a tab that injects axe into every page. */
export async function openTabWithAxe(locale: Locale): Promise<Tab> {
  const tab = await openTab(locale, { viewport: { width: 320, height: 640 } });
  await tab.page.addInitScript({ content: AXE });
  return tab;
}

/**
 * Checks a page in the light scheme at 320 pixels; then with details open, dark and light, at 320 pixels and at 200 % text
 * size.
 */
async function findingsEverywhere(page: Page): Promise<string[]> {
  const found = await findings(page, EVERY_RULE);
  await page
    .locator('details')
    .evaluateAll((all: HTMLDetailsElement[]) => all.forEach((details) => (details.open = true)));
  await page.emulateMedia({ colorScheme: 'dark' });
  found.push(...(await findings(page, LOOKS)));
  await page.setViewportSize({ width: 640, height: 640 });
  await zoomText(page, 2);
  found.push(...(await findings(page, LOOKS)));
  await page.emulateMedia({ colorScheme: 'light' });
  found.push(...(await findings(page, LOOKS)));
  await zoomText(page, 1);
  await page.setViewportSize({ width: 320, height: 640 });
  return found;
}

/** Defines tests that run axe on every page in a language. */
export function describeAccessibility(locale: Locale): void {
  describe(`axe finds nothing, light and dark, at 320 pixels and at 200 %: ${locale}`, () => {
    let tab: Tab;

    beforeAll(async () => {
      tab = await openTabWithAxe(locale);
    });

    afterAll(() => tab.close());

    it.each(SCENES.map((scene) => [scene.name, scene] as const))('%s', async (_name, scene) => {
      expect(await findingsEverywhere(await tab.play(scene))).toEqual([]);
    });

    it('on every error page', async () => {
      const found: Record<string, string[]> = {};
      for (const scene of ERROR_SCENES) found[scene.name] = await findingsEverywhere(await tab.play(scene));
      expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([]);
      expect(Object.keys(found)).toHaveLength(Object.keys(ERROR_KINDS).length);
    });
  });
}
