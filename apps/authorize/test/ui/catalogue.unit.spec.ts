import { AUDIT_TYPES } from '#audit/event.js';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { ERROR_KINDS } from '../../src/ui/errors/error-kind.js';
import { EN, type MessageId } from '../../src/ui/i18n/en.js';
import { MESSAGES } from '../../src/ui/i18n/translator.js';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const IDS = Object.keys(EN) as MessageId[];
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

/** Finds message ids in the sources, and templates that compose ids. Skips template types with `${string}`. */
async function named(): Promise<{ ids: Set<string>; templates: Set<string> }> {
  const files = (await readdir(SOURCES, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !/i18n.[a-z]{2}\.ts$/.test(file),
  );
  const families = [...new Set(IDS.map((id) => id.split('.', 1)[0]))].join('|');
  const literal = new RegExp(`'((?:${families})\\.[\\w.:-]+)'`, 'g');
  const template = new RegExp(`\`((?:${families})\\.[^\`]*)\``, 'g');
  const text = (await Promise.all(files.map((file) => readFile(SOURCES + file, 'utf8')))).join('\n');
  const all = (pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, id = '']) => id));
  const composed = [...all(template)].filter((id) => !id.includes('${string}'));
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
    expect(messages.filter((id) => !(id in EN))).toEqual([]);
    expect([...templates].filter((template) => !(template in COMPOSED))).toEqual([]);
    const composed = [...templates].flatMap((template) =>
      (COMPOSED[template] ?? []).map((value) => template.replace(/\$\{\w+\}/, value)),
    );
    expect(composed.filter((id) => !(id in EN))).toEqual([]);
  });

  it('contains no unused message', async () => {
    const { ids, templates } = await named();
    const composed = [...templates].flatMap((template) =>
      (COMPOSED[template] ?? []).map((value) => template.replace(/\$\{\w+\}/, value)),
    );
    const used = new Set([...ids, ...composed]);
    expect(IDS.filter((id) => !used.has(id))).toEqual([]);
  });

  it.each(LOCALES)('contains every message in %s, and no untranslated message', (locale) => {
    expect(IDS.filter((id) => !MESSAGES[locale][id].trim())).toEqual([]);
    if (locale === 'en') return;
    const same = IDS.filter((id) => MESSAGES[locale][id] === EN[id]);
    // A single word may be the same in two languages.
    const words = (id: MessageId) => EN[id].replaceAll(/\{[^}]*\}/g, '').match(/\p{L}+/gu) ?? [];
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
