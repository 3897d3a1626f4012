import { describeEveryPage, LONGEST_WORDS, WIDTH } from './scenes/every-page.js';
import { problemsOf } from './scenes/problems.js';
import { SCENES } from './scenes/scenes.js';
import { chromium, fixture, useSceneFixture } from './scenes/use-scene-fixture.js';

useSceneFixture();

// every-page.long.spec.ts tests the other languages.
describe(`in ${LONGEST_WORDS}`, () => describeEveryPage(LONGEST_WORDS));

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
