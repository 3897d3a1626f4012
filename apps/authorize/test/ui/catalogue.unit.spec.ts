import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { randomBytes } from 'node:crypto';
import { IntlMessageFormat } from 'intl-messageformat';
import fc from 'fast-check';
import { AUDIT_TYPES } from '#audit/event.js';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { cpuTime } from '#test/support/process-tree.js';
import { html } from '#ui/html.js';
import { ERROR_KINDS } from '../../src/ui/errors/error-kind.js';
import { type MessageId, MESSAGES } from '../../src/ui/i18n/messages.js';
import { Translator } from '../../src/ui/i18n/language.service.js';
import { chooseLocale, dateLocale, type LanguagePreferences } from '#ui/i18n.js';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const IDS = Object.keys(MESSAGES.en) as MessageId[];
const cases = IDS.flatMap((id) => LOCALES.map((locale) => [id, locale] as const));

const remedies = Object.values(ERROR_KINDS);
/** Possible values of the placeholders in composed ids. */
const COMPOSED: Readonly<Record<string, readonly string[]>> = {
  'error.${kind}.title': Object.keys(ERROR_KINDS),
  'error.${kind}.what': Object.keys(ERROR_KINDS),
  'error.party.${party}': remedies.map(({ party }) => party ?? 'nobody'),
  'error.advice.${advice}': remedies.map(({ advice }) => advice),
  'brand.${name}': ['product', 'privacy', 'terms', 'help'],
  'scope.${access}': ['read', 'write'],
  'consent.goes_to.${kind}': ['site', 'device'],
};

/** Finds message ids in the sources, and templates that compose ids. Skips template types. */
async function named(): Promise<{ ids: Set<string>; templates: Set<string> }> {
  const files = (await readdir(SOURCES, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const families = [...new Set(IDS.map((id) => id.split('.', 1)[0]))].join('|');
  const literal = new RegExp(`'((?:${families})\\.[\\w.:-]+)'`, 'g');
  const template = new RegExp(`\`((?:${families})\\.[^\`]*)\``, 'g');
  const text = (await Promise.all(files.map((file) => readFile(SOURCES + file, 'utf8')))).join('\n');
  const all = (pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, id = '']) => id));
  const composed = [...all(template)].filter((id) => !/\$\{(?:string|infer \w+)\}/.test(id));
  return { ids: all(literal), templates: new Set(composed) };
}

// Element types of a parsed ICU message.
const [ARGUMENT, NUMBER, DATE, TIME, SELECT, PLURAL, TAG] = [1, 2, 3, 4, 5, 6, 8];

interface Element {
  readonly type: number;
  readonly value: string;
  readonly children?: readonly Element[];
  readonly options?: Readonly<Record<string, { readonly value: readonly Element[] }>>;
}

function parsed(id: MessageId, locale: Locale): Element[] {
  return new IntlMessageFormat(MESSAGES[locale][id], locale).getAst() as unknown as Element[];
}

function flat(elements: readonly Element[]): Element[] {
  return elements.flatMap((element) => [
    element,
    ...flat(element.children ?? []),
    ...flat(Object.values(element.options ?? {}).flatMap(({ value }) => value)),
  ]);
}

/** Returns the distinct argument names and types, because a translation may repeat a number inside its plural. */
function argumentsOf(id: MessageId, locale: Locale): string[] {
  const kinds = new Map([
    [ARGUMENT, 'text'],
    [NUMBER, 'number'],
    [DATE, 'date'],
    [TIME, 'time'],
    [SELECT, 'select'],
    [PLURAL, 'number'],
    [TAG, 'tag'],
  ]);
  const elementsOfKind = flat(parsed(id, locale)).filter(({ type }) => kinds.has(type));
  return [...new Set(elementsOfKind.map(({ type, value }) => `${value} ${kinds.get(type)}`))].toSorted();
}

describe('the catalogue', () => {
  it('contains every message that the pages use', async () => {
    const { ids, templates } = await named();
    const messages = [...ids].filter((id) => !(AUDIT_TYPES as readonly string[]).includes(id));
    expect(messages.filter((id) => !(id in MESSAGES.en))).toEqual([]);
    expect([...templates].filter((template) => !(template in COMPOSED))).toEqual([]);
    const composed = [...templates].flatMap((template) =>
      (COMPOSED[template] ?? []).map((value) => template.replace(/\$\{\w+\}/, value)),
    );
    expect(composed.filter((id) => !(id in MESSAGES.en))).toEqual([]);
  });

  it('contains no unused message', async () => {
    const { ids, templates } = await named();
    const composed = [...templates].flatMap((template) =>
      (COMPOSED[template] ?? []).map((value) => template.replace(/\$\{\w+\}/, value)),
    );
    const used = new Set([...ids, ...composed]);
    expect(IDS.filter((id) => !used.has(id))).toEqual([]);
  });

  it.each(LOCALES)('contains every message in %s, in the order of English and translated', (locale) => {
    expect(Object.keys(MESSAGES[locale])).toEqual(IDS);
    expect(IDS.filter((id) => !MESSAGES[locale][id].trim())).toEqual([]);
    if (locale === 'en') return;
    const same = IDS.filter((id) => MESSAGES[locale][id] === MESSAGES.en[id]);
    // A single word may be the same in two languages.
    const words = (id: MessageId) => MESSAGES.en[id].replaceAll(/\{[^}]*\}/g, '').match(/\p{L}+/gu) ?? [];
    expect(same.filter((id) => words(id).length > 1)).toEqual([]);
  });

  it.each([
    ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u],
    ['ar', /\p{Script=Arabic}/u],
  ] as const)('uses the script of %s', (locale, script) => {
    expect(IDS.filter((id) => !script.test(MESSAGES[locale][id]))).toEqual([]);
  });

  it('uses the same arguments and tags in every language', () => {
    const different = cases.filter(
      ([id, locale]) => argumentsOf(id, locale).join() !== argumentsOf(id, 'en').join(),
    );
    expect(different).toEqual([]);
  });

  it('contains every plural form that each language needs', () => {
    const lacking = cases.flatMap(([id, locale]) => {
      const rules = new Intl.PluralRules(locale);
      const needed = new Set(Array.from({ length: 1_001 }, (_, number) => rules.select(number)));
      return flat(parsed(id, locale))
        .filter(({ type }) => type === PLURAL)
        .flatMap(({ options = {} }) => [...needed].filter((form) => !(form in options)))
        .map((form) => `${id} ${locale} ${form}`);
    });
    expect(lacking).toEqual([]);
  });

  it('contains no markup except <b> and <a>', () => {
    const tags = cases.flatMap(([id, locale]) => flat(parsed(id, locale)).filter(({ type }) => type === TAG));
    expect([...new Set(tags.map(({ value }) => value))].filter((tag) => !['a', 'b'].includes(tag))).toEqual(
      [],
    );
    expect(cases.filter(([id, locale]) => /&\w+;/.test(MESSAGES[locale][id]))).toEqual([]);
  });

  it('contains no straight apostrophe, which starts a quotation in MessageFormat', () => {
    expect(cases.filter(([id, locale]) => MESSAGES[locale][id].includes("'"))).toEqual([]);
  });
});

describe('translator', () => {
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
      expect(html`${title('en', 'a\u202eb\u2066')}`.text).toBe(
        'Allow a\ufffdb\ufffd to access your account?',
      );
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
    [
      'a ui_locales list',
      { uiLocales: Array.from({ length: 20 }, () => `zz-x${'-a'.repeat(360)}`).join(' ') },
    ],
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
      { numRuns: 500 },
    );
  });
});
