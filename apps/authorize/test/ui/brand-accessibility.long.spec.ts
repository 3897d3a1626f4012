import { describeAccessibility } from './scenes/accessibility.js';
import { focusPath } from './scenes/focus-path.js';
import { problemsOf } from './scenes/problems.js';
import { SCENES } from './scenes/scenes.js';
import { SECOND_BRAND } from './scenes/second-brand.js';
import { useSceneFixture } from './scenes/use-scene-fixture.js';
import { openTab } from './scenes/tab.js';

useSceneFixture(SECOND_BRAND);

describeAccessibility('en');

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
