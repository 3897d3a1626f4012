import type { Locale } from '#oauth/locale.js';
import { openDetails, tabTo } from '#test/support/chromium.js';
import { PASSWORD } from '../support/start-authorize-app.js';
import { ERROR_SCENES } from './scenes/error-scenes.js';
import { focusPath, openTab } from './scenes/focus-path.js';
import { SCENES } from './scenes/scenes.js';
import { chromium, fixture, useSceneFixture } from './scenes/use-scene-fixture.js';

useSceneFixture();

describe('with the keyboard only and no JavaScript', () => {
  it('a user can log in, choose scopes and allow the request', async () => {
    const { request, clients, people, app } = fixture;
    const context = await fixture.visit(chromium, null, { javaScriptEnabled: false, locale: 'en' });
    const page = await context.newPage();
    await page.goto(request(clients.rooms, 'profile:read bookings:read bookings:write'));
    await page.locator('#username:focus').waitFor();
    await page.keyboard.type(people.ada.username);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/auth/oauth2/authorize?**');
    await tabTo(page, 'Create, reschedule and cancel bookings on your behalf Write access');
    await page.keyboard.press('Space');
    await tabTo(page, 'Allow');
    const arrival = page.waitForRequest('https://app.room-planner.example/**');
    await page.keyboard.press('Enter');
    expect(new URL((await arrival).url()).searchParams.get('code')).toMatch(/^sac_/);
    const sql = 'SELECT scope FROM grants WHERE user_id = $1 AND client_id = $2';
    const rows = await app.sql(sql, [people.ada.id, clients.rooms.clientId]);
    expect(rows).toEqual([{ scope: 'profile:read bookings:write' }]);
    await context.close();
    await fixture.connect();
  });

  it('revoking an application moves the focus to the confirmation', async () => {
    const { app, people } = fixture;
    const context = await fixture.visit(chromium, people.grace, { javaScriptEnabled: false, locale: 'en' });
    const page = await context.newPage();
    await page.goto(`${app.url}/auth/`);
    await tabTo(page, 'Connected applications');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/auth/apps');
    await tabTo(page, 'Remove access: Room Planner');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/auth/apps/revoke?**');
    await tabTo(page, 'Remove access');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/auth/apps?done');
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('role')).toBe('status');
    expect(await focused.textContent()).toBe('Room Planner can no longer access your account.');
    await context.close();
    await fixture.connect();
  });

  it('the developer details can be opened and closed', async () => {
    const context = await fixture.visit(chromium, null, { javaScriptEnabled: false, locale: 'en' });
    const page = await context.newPage();
    await page.goto(`${fixture.app.url}/auth/oauth2/authorize?client_id=sc_unknown`);
    for (let tabs = 0; tabs < 5 && (await page.locator('summary:focus').count()) === 0; tabs++)
      await page.keyboard.press('Tab');
    const shown = page.getByText('Failed check');
    expect(await shown.isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await shown.isVisible()).toBe(true);
    await page.keyboard.press('Space');
    expect(await shown.isVisible()).toBe(false);
    await context.close();
  });
});

describe.each<Locale>(['en', 'ar'])('in %s', (locale) => {
  it('the focus follows the reading order, is visible, and is never covered', async () => {
    const violations: string[] = [];
    const scenes = [...SCENES, ...ERROR_SCENES.slice(0, 1)];
    const tab = await openTab(locale, { viewport: { width: 320, height: 480 } });
    for (const scene of scenes) {
      const page = await tab.play(scene);
      // The button of a page that continues is shown after a delay.
      await page.evaluate(() => document.getAnimations().forEach((animation) => animation.finish()));
      await openDetails(page);
      violations.push(...(await focusPath(page)).map((problem) => `${scene.name}: ${problem}`));
    }
    await tab.close();
    expect(violations).toEqual([]);
  });
});

describe('a browser with forced colours and reduced motion', () => {
  it.each(['login-wrong', 'consent-choices', 'apps', 'error-with-details'])(
    'shows borders and the focus, and has no animation: %s',
    async (name) => {
      const scene = SCENES.find((candidate) => candidate.name === name);
      if (!scene) throw new Error(`no scene ${name}`);
      const options = { locale: 'en', forcedColors: 'active', reducedMotion: 'reduce' } as const;
      const context = await fixture.visit(chromium, scene.visitor(fixture), options);
      const page = await context.newPage();
      await scene.open(page, fixture, 'en');
      await page.waitForLoadState();
      const violations = await page.evaluate(() => {
        const borderless = [
          ...document.querySelectorAll(
            'main, .button, button:not(.plain), select, input:not([type=hidden], [type=checkbox])',
          ),
        ]
          .filter((element) => element.checkVisibility())
          .filter((element) => getComputedStyle(element).borderBlockEndStyle === 'none')
          .map(({ outerHTML }) => outerHTML);
        const animated = [...document.querySelectorAll('*')]
          .filter((element) => {
            const { transitionDuration, animationName } = getComputedStyle(element);
            return !/^0s(?:, 0s)*$/.test(transitionDuration) || animationName !== 'none';
          })
          .map(({ outerHTML }) => outerHTML);
        return [...borderless, ...animated];
      });
      expect(violations).toEqual([]);
      expect(await focusPath(page)).toEqual([]);
      await context.close();
    },
  );
});

it('fields have autocomplete values for password managers and browsers', async () => {
  const { app, people } = fixture;
  const context = await fixture.visit(chromium, people.ada, { locale: 'en' });
  const page = await context.newPage();
  const tokens = () =>
    page
      .locator('input:not([type=hidden]), select')
      .evaluateAll((fields) => fields.map((field) => field.getAttribute('autocomplete')));
  await page.goto(`${app.url}/auth/`);
  expect(await tokens()).toEqual(['language']);
  await context.clearCookies();
  await page.goto(`${app.url}/auth/login`);
  expect(await tokens()).toEqual(['username', 'current-password']);
  await context.close();
});
