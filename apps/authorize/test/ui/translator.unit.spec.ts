import { randomBytes } from 'node:crypto';
import { LOCALES } from '#oauth/locale.js';
import { cpuTime } from '#test/support/process-tree.js';
import { dateLocale, chooseLocale, type LanguagePreferences } from '../../src/ui/i18n/language.service.js';
import { Translator } from '../../src/ui/i18n/translator.js';
import { html } from '#ui/html.js';
import fc from 'fast-check';

describe('values in another text direction', () => {
  it('are isolated from the surrounding sentence by markup', () => {
    const name = `עברית ${randomBytes(2).toString('hex')} <b>`;
    for (const locale of LOCALES) {
      const { text } = new Translator(locale).rich('flash.revoked', { client: name });
      expect(text).toContain(`<bdi>${name.replace('<', '&lt;').replace('>', '&gt;')}</bdi>`);
    }
  });
});

describe('values in titles and attributes', () => {
  const title = (locale: 'en' | 'ar', client: string) =>
    new Translator(locale).text('consent.title', { client });

  it('are isolated by control characters if their text direction differs', () => {
    expect(title('en', 'עברית 1')).toBe('Allow \u2068עברית 1\u2069 to access your account?');
    expect(title('ar', 'Calendar')).toContain('\u2068Calendar\u2069');
    expect(title('en', 'Calendar')).toBe('Allow Calendar to access your account?');
  });

  it('cannot end their isolation or change the direction of the following text', () => {
    expect(title('en', '\u2069\u202eא')).toBe('Allow \u2068\ufffd\ufffdא\u2069 to access your account?');
    expect(html`${title('en', 'a\u202eb\u2066')}`.text).toBe('Allow a\ufffdb\ufffd to access your account?');
  });
});

describe('a date', () => {
  const date = new Date('2026-03-31T23:30:00Z');

  it('is shown in the user’s time zone', () => {
    expect(new Translator('en').date(date, 'Asia/Tokyo')).toBe('April 1, 2026');
    expect(new Translator('de').date(date, 'America/New_York')).toBe('31. März 2026');
  });

  it.each([
    ['en', 'en-GB,en;q=0.9', '1 April 2026'],
    ['en', 'en-US;q=0.5, en-GB', '1 April 2026'],
    ['en', 'de-AT, en-AU;q=0.3', '1 April 2026'],
    ['en', 'en-Latn-GB-x-mine', '1 April 2026'],
    ['en', 'en-001', '1 April 2026'],
    ['en', 'en, de-AT', 'April 1, 2026'],
    ['en', 'en-GB;q=0, en', 'April 1, 2026'],
    ['en', 'en-x-gb, en-GBR, -GB, ;;;', 'April 1, 2026'],
    ['en', 'en-QQ', 'April 1, 2026'],
    ['ar', 'ar-SA-u-ca-islamic', '١ أبريل ٢٠٢٦'],
    ['pt', 'pt-BR', '1 de abril de 2026'],
    ['de', 'en-GB', '1. April 2026'],
  ] as const)('is formatted for the language %s and the region in %s', (locale, header, written) => {
    expect(new Translator(locale, dateLocale(locale, header)).date(date, 'Asia/Tokyo')).toBe(written);
  });

  it('is formatted at a bounded cost for a very long header', () => {
    const header = `${'en-US-x-'.repeat(100_000)},en-GB`;
    const begun = cpuTime();
    for (let times = 0; times < 1_000; times++) dateLocale('en', header);
    expect(cpuTime() - begun).toBeLessThan(2_000);
  });

  it('is shown in UTC when the time zone is unknown', () => {
    expect(new Translator('en').date(date, 'Mars/Olympus')).toBe('March 31, 2026');
  });
});

it.each([
  ['a ui_locales language', { uiLocales: `en-x${'-a'.repeat(7_000)}` }],
  ['a ui_locales list', { uiLocales: Array.from({ length: 20 }, () => `zz-x${'-a'.repeat(360)}`).join(' ') }],
  ['an Accept-Language header', { acceptLanguage: `en-x${'-a'.repeat(7_000)}` }],
])('%s of 14 KB costs at most twenty times as much as a normal value', (_name, longValue) => {
  const plain = { uiLocales: 'de', acceptLanguage: 'de' };
  const time = (preferences: LanguagePreferences) => {
    const start = cpuTime();
    for (let n = 0; n < 5; n += 1) chooseLocale(preferences);
    return cpuTime() - start;
  };
  const fastest = { plain: Infinity, long: Infinity };
  for (let round = 0; round < 20; round += 1) {
    fastest.plain = Math.min(fastest.plain, time(plain));
    fastest.long = Math.min(fastest.long, time(longValue));
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
