import { EVERY_RULE, findings } from '#test/support/axe.js';
import { describeAccessibility, openTabWithAxe } from './scenes/accessibility.js';
import type { Scene } from './scenes/scene.js';
import { SCENES } from './scenes/scenes.js';
import { useSceneFixture } from './scenes/use-scene-fixture.js';

useSceneFixture();

describeAccessibility('en');
describeAccessibility('ar');

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
