import fc from 'fast-check';
import { LOCALES } from '#oauth/locale.js';
import { cpuTime } from '#test/support/cpu-time.js';
import { chooseLocale, type LanguagePreferences } from '../../src/ui/i18n/language.service.js';

it.each([
  ['a ui_locales language', { uiLocales: `en-x${'-a'.repeat(7_000)}` }],
  ['a ui_locales list', { uiLocales: Array.from({ length: 20 }, () => `zz-x${'-a'.repeat(360)}`).join(' ') }],
  ['an Accept-Language header', { acceptLanguage: `en-x${'-a'.repeat(7_000)}` }],
])('%s of 14 KB costs at most twenty times a normal value', (_name, wishes) => {
  const plain = { uiLocales: 'de', acceptLanguage: 'de' };
  const time = (asked: LanguagePreferences) => {
    const start = cpuTime();
    for (let n = 0; n < 5; n += 1) chooseLocale(asked);
    return cpuTime() - start;
  };
  const fastest = { plain: Infinity, long: Infinity };
  for (let round = 0; round < 20; round += 1) {
    fastest.plain = Math.min(fastest.plain, time(plain));
    fastest.long = Math.min(fastest.long, time(wishes));
  }
  expect(fastest.long / fastest.plain).toBeLessThan(20);
});

it('every preference yields a supported language', () => {
  fc.assert(
    fc.property(
      fc.option(fc.string({ unit: 'binary' }), { nil: null }),
      fc.option(fc.string(), { nil: null }),
      fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
      (uiLocales, setting, acceptLanguage) => {
        expect(LOCALES).toContain(chooseLocale({ uiLocales, setting, acceptLanguage }));
      },
    ),
    { numRuns: 2_000 },
  );
});
