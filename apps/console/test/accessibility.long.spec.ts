import type { Browser, Page } from 'playwright-core';
import { AXE, EVERY_RULE, findings } from '#test/support/axe.js';
import { launchBrowser } from '#test/support/chromium.js';
import { type ConsoleScenes, openConsoleScenes } from './support/console-scenes.js';

const WIDTHS = [1280, 390];

/** Width in pixels at which no table scrolls. */
const WIDEST = 4000;

let chromium: Browser;
let console: ConsoleScenes;

beforeAll(async () => {
  [chromium, console] = await Promise.all([launchBrowser(), openConsoleScenes()]);
});

afterAll(async () => {
  await chromium?.close();
  await console?.close();
});

/** Checks a page with all details open, at desktop and phone width, in light and dark mode. */
async function findingsEverywhere(page: Page): Promise<string[]> {
  await page
    .locator('details')
    .evaluateAll((all: HTMLDetailsElement[]) => all.forEach((details) => (details.open = true)));
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    // The only frame shows a page of authorize, which has a separate test.
    found.push(...(await findings(page, EVERY_RULE, ['color-contrast', 'frame-tested'])));
  }
  // axe cannot determine the contrast of a cell that is scrolled out of view. No colour depends on the width.
  await page.setViewportSize({ width: WIDEST, height: 800 });
  await page.locator('main').evaluate((main) => (main.style.maxWidth = 'none'));
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findings(page, ['color-contrast'])));
  }
  return found;
}

it('every page passes axe at desktop and phone width, in light and dark mode', async () => {
  const found: Record<string, string[]> = {};
  for (const [name, open] of Object.entries(console.scenes)) {
    const page = await console.tab(chromium, {});
    await page.addInitScript({ content: AXE });
    await open(page);
    found[name] = await findingsEverywhere(page);
    await page.context().close();
  }
  expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([]);
}, 1_200_000);
