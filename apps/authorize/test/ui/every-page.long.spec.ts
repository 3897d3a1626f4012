import type { Page } from 'playwright-core';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { MESSAGES } from '../../src/ui/i18n/language.service.js';
import { ERROR_SCENES } from './scenes/error-scenes.js';
import { problemsOf } from './scenes/accessibility.js';
import type { Scene } from './scenes/scene.js';
import { SCENES } from './scenes/scenes.js';
import { openTab, spaceText, type Tab, zoomText } from './scenes/focus-path.js';
import { chromium, fixture, useSceneFixture } from './scenes/use-scene-fixture.js';

const WIDTH = 320;

/** Languages that are also tested with larger and spaced text. German has the longest words. */
const TESTED_AT_EVERY_SIZE: readonly Locale[] = ['de', 'ar'];

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

useSceneFixture();

describe.each(LOCALES)('in %s', (locale) => {
  const prefix = MESSAGES[locale]['error.title'].split('{')[0] ?? '';

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
});

it('the layout check reports defects', async () => {
  const context = await fixture.visit(chromium, null, { viewport: { width: WIDTH, height: 640 } });
  const page = await context.newPage();
  await SCENES[0]?.open(page, fixture, 'en');
  await page.evaluate(() => {
    const [heading, field, button] = ['h1', '#username', 'button.wide'].map((selector) =>
      document.querySelector(selector),
    );
    (field as HTMLElement).style.width = '400px';
    (button as HTMLElement).style.minHeight = '0';
    (button as HTMLElement).style.padding = '0';
    heading?.replaceWith(Object.assign(document.createElement('h3'), { textContent: 'x' }));
  });
  expect(await problemsOf(page)).toEqual([
    expect.stringContaining('scrolls sideways'),
    expect.stringContaining('too small: BUTTON.wide'),
    expect.stringContaining('sticks out: INPUT'),
    expect.stringContaining('headings: 3'),
  ]);
  await context.close();
});
