import { LOCALES } from '#oauth/locale.js';
import { describeEveryPage, HARDEST } from './scenes/every-page.js';

describe.each(LOCALES.filter((locale) => !HARDEST.includes(locale)))('%s', describeEveryPage);
