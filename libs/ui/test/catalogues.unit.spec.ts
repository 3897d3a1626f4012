import { LOCALES } from '#oauth/locale.js';
import { catalogues } from '#ui/i18n.js';

const text = { 'a.title': 'Title', 'a.text': 'Text' };
const translated = { de: text, fr: text, es: text, pt: text, ja: text, ar: text };

describe('the messages of an app', () => {
  it('have the same ids in every language', () => {
    expect(Object.keys(catalogues({ en: text, ...translated }))).toEqual(
      expect.arrayContaining([...LOCALES]),
    );
  });

  it('do not compile with a missing id', () => {
    // @ts-expect-error 'a.text' is missing
    catalogues({ en: text, ...translated, de: { 'a.title': 'Titel' } });
  });

  it('do not compile with an unknown id', () => {
    // @ts-expect-error English has no 'a.hint'
    catalogues({ en: text, ...translated, de: { ...text, 'a.hint': 'Hinweis' } });
  });

  it('do not compile without a language', () => {
    const { ar: _, ...six } = translated;
    // @ts-expect-error Arabic is missing
    catalogues({ en: text, ...six });
  });
});
