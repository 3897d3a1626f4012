import type { Page } from 'playwright-core';
import { EVERY_RULE, findings } from '#test/support/chromium.js';
import {
  describeAccessibility,
  enlarged,
  inDark,
  inLight,
  openTabWithAxe,
  problemsOf,
} from './scenes/accessibility.js';
import type { Scene } from './scenes/scene.js';
import { SCENES } from './scenes/scenes.js';
import { useSceneFixture } from './scenes/use-scene-fixture.js';
import { focusPath, openTab } from './scenes/focus-path.js';
import { SECOND_BRAND } from './scenes/second-brand.js';
import { ERROR_SCENES } from './scenes/error-scenes.js';

describe('accessibility', () => {
  useSceneFixture();

  // No colour depends on the language, and no size on the brand.
  describeAccessibility('en', inLight, inDark, enlarged);
  describeAccessibility('ar', inLight, enlarged);

  it('axe is loaded and reports defects', async () => {
    const tab = await openTabWithAxe('en');
    const page = await tab.play(SCENES[0] as Scene);
    await page
      .locator('label')
      .first()
      .evaluate((label) => label.remove());
    await page.locator('h1').evaluate((heading) => (heading.style.color = '#eee'));
    const violations = await findings(page, EVERY_RULE);
    expect(new Set(violations.map((text) => text.split(':', 1)[0]))).toEqual(
      new Set(['color-contrast', 'label']),
    );
    await tab.close();
  });
});

describe('brand accessibility', () => {
  useSceneFixture(SECOND_BRAND);

  describeAccessibility('en', inLight, inDark);

  it('every page fits 320 pixels, and its keyboard focus is visible and in order', async () => {
    const violations: string[] = [];
    const tab = await openTab('en', { viewport: { width: 320, height: 480 } });
    for (const scene of SCENES) {
      const page = await tab.play(scene);
      const problems = [...(await problemsOf(page)), ...(await focusPath(page))];
      violations.push(...problems.map((problem) => `${scene.name}: ${problem}`));
    }
    await tab.close();
    expect(violations).toEqual([]);
  });

  it('the logo is shown, and its size is reserved before it loads', async () => {
    const tab = await openTab('en', {});
    const page = await tab.play(SCENES[0]!);
    const logo = page.getByRole('img', { name: SECOND_BRAND.PRODUCT_NAME });
    const shown = await logo.evaluate((image: HTMLImageElement) => [image.complete, image.naturalWidth > 0]);
    expect(shown).toEqual([true, true]);
    expect([await logo.getAttribute('width'), await logo.getAttribute('height')]).toEqual(['148', '32']);
    await tab.close();
  });
});

describe('layout', () => {
  useSceneFixture();

  type Options = Parameters<typeof openTab>[1];

  async function inspect<Found>(
    name: string,
    locale: Parameters<typeof openTab>[0],
    options: Options,
    find: (page: Page) => Promise<Found>,
  ): Promise<Found> {
    const scene = [...SCENES, ...ERROR_SCENES].find((candidate) => candidate.name === name);
    if (!scene) throw new Error(`no scene ${name}`);
    const tab = await openTab(locale, options);
    try {
      return await find(await tab.play(scene));
    } finally {
      await tab.close();
    }
  }

  const PHONE = { viewport: { width: 375, height: 667 } };

  describe('the layout of a page', () => {
    it('does not depend on forced colours', async () => {
      const heightOf = (page: Page) =>
        page.locator('main').evaluate((main) => main.getBoundingClientRect().height);
      const normal = await inspect('consent', 'en', PHONE, heightOf);
      const forced = await inspect('consent', 'en', { ...PHONE, forcedColors: 'active' }, heightOf);
      expect(forced).toBe(normal);
    });

    it('keeps the comma after a URL on the line of the URL at every width', async () => {
      const separated = await inspect('error-cookie-host', 'en', PHONE, async (page) => {
        const widths: number[] = [];
        for (let width = 320; width <= 420; width += 2) {
          await page.setViewportSize({ width, height: 667 });
          const gap = await page
            .locator('[role=alert] bdi')
            .first()
            .evaluate((address) => {
              const [last] = [...address.getClientRects()].slice(-1);
              const comma = document.createRange();
              comma.setStart(address.nextSibling as Text, 0);
              comma.setEnd(address.nextSibling as Text, 1);
              return comma.getBoundingClientRect().left - (last?.right ?? 0);
            });
          if (Math.abs(gap) > 2) widths.push(width);
        }
        return widths;
      });
      expect(separated).toEqual([]);
    });

    it('right-aligns an email address in Arabic', async () => {
      const narrow = { viewport: { width: 280, height: 667 } };
      const gap = await inspect('consent', 'ar', narrow, (page) =>
        page.locator('.pages a[href^=mailto]').evaluate((link) => {
          const text = document.createRange();
          text.selectNodeContents(link);
          const lines = [...text.getClientRects()].map(({ right }) => right);
          return lines.length < 2 ? null : link.getBoundingClientRect().right - Math.min(...lines);
        }),
      );
      expect(gap).toBeLessThan(2);
      expect(gap).not.toBeNull();
    });
  });
});
