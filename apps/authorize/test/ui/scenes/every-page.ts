import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import { CATALOGUE } from '../../../src/ui/i18n/translator.js';
import { ERROR_SCENES } from './error-scenes.js';
import { problemsOf } from './problems.js';
import type { Scene } from './scene.js';
import { SCENES } from './scenes.js';
import { openTab, spaceText, type Tab, zoomText } from './tab.js';

export const WIDTH = 320;

/** Language with the longest words, in which layouts break first. */
export const LONGEST_WORDS: Locale = 'de';

/** Languages that are also tested with larger and spaced text. */
const TESTED_AT_EVERY_SIZE: readonly Locale[] = [LONGEST_WORDS, 'ar'];

async function problemsAtEverySize(page: Page): Promise<string[]> {
  const violations: string[] = [];
  await spaceText(page, true);
  violations.push(...(await problemsOf(page)).map((problem) => `with spaced text: ${problem}`));
  await page.setViewportSize({ width: 2 * WIDTH, height: 640 });
  await zoomText(page, 2);
  violations.push(...(await problemsOf(page)).map((problem) => `at 200 %: ${problem}`));
  await zoomText(page, 1);
  await spaceText(page, false);
  await page.setViewportSize({ width: WIDTH, height: 640 });
  return violations;
}

export function describeEveryPage(locale: Locale): void {
  const prefix = CATALOGUE['error.title'][locale].split('{')[0] ?? '';

  async function inspect(tab: Tab, scene: Scene): Promise<string[]> {
    const page = await tab.play(scene);
    const violations = await problemsOf(page);
    if (TESTED_AT_EVERY_SIZE.includes(locale)) violations.push(...(await problemsAtEverySize(page)));
    const { lang, dir, title, failed } = await page.evaluate(() => ({
      lang: document.documentElement.lang,
      dir: document.documentElement.dir,
      title: document.title,
      failed: document.querySelector('[role=alert]') !== null,
    }));
    if (lang !== locale || dir !== (locale === 'ar' ? 'rtl' : 'ltr'))
      violations.push(`has lang and dir ${lang} ${dir}`);
    // Screen readers announce the title first.
    if (failed !== title.startsWith(prefix.trim()))
      violations.push(`its title does not match its state: ${title}`);
    return violations.map((problem) => `${scene.name}: ${problem}`);
  }

  it('every page fits 320 pixels, has large targets, and shows its state in the title', async () => {
    const tab = await openTab(locale, { viewport: { width: WIDTH, height: 640 } });
    const violations: string[] = [];
    for (const scene of SCENES) violations.push(...(await inspect(tab, scene)));
    expect(violations).toEqual([]);
    await tab.close();
  });

  it('every error page fits 320 pixels, has large targets, and has a unique title', async () => {
    const tab = await openTab(locale, { viewport: { width: WIDTH, height: 640 } });
    const violations: string[] = [];
    const titles = new Set<string>();
    for (const scene of ERROR_SCENES) {
      violations.push(...(await inspect(tab, scene)));
      titles.add(await tab.page.title());
    }
    expect(violations).toEqual([]);
    expect(titles.size).toBe(ERROR_SCENES.length);
    await tab.close();
  });
}
