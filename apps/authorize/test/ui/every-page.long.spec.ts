import { LOCALES } from '#oauth/locale.js';
import { describeEveryPage, LONGEST_WORDS } from './scenes/every-page.js';
import { useSceneFixture } from './scenes/use-scene-fixture.js';

useSceneFixture();

describe.each(LOCALES.filter((locale) => locale !== LONGEST_WORDS))('in %s', describeEveryPage);
