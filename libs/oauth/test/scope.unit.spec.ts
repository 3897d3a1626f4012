import { LOCALES } from '#oauth/locale.js';
import { type Scope, ScopeCatalogue, scopeTokens } from '#oauth/scope.js';
import { SCOPES } from '#test/support/app-settings.js';

describe('the scopes of this repository', () => {
  it.each(LOCALES)('have a text in %s, in its script and not copied from English', (locale) => {
    const script =
      { ja: /\p{Script=Han}/u, ar: /\p{Script=Arabic}/u }[locale as string] ?? /\p{Script=Latin}/u;
    for (const { name, texts } of SCOPES.scopes) {
      expect([name, texts[locale]]).toEqual([name, expect.stringMatching(script)]);
      if (locale !== 'en') expect(texts[locale]).not.toBe(texts.en);
    }
  });
});

describe('the catalogue', () => {
  const scope = (name: string, more: Partial<Scope> = {}): Scope => ({
    name,
    description: name,
    texts: { en: name },
    resource: 'https://api.example.com',
    isDefault: false,
    access: 'read',
    ...more,
  });
  const catalogue = new ScopeCatalogue([
    scope('b', { isDefault: true }),
    scope('a', { resource: 'https://files.example.com' }),
    scope('c'),
  ]);

  it('sorts scopes in its order, with undeclared scopes last', () => {
    expect(catalogue.inOrder(['gone', 'c', 'a', 'b'])).toEqual(['b', 'a', 'c', 'gone']);
    expect(catalogue.inOrder(['a', 'b'])).toEqual(['b', 'a']);
  });

  it('returns the scopes of an API and the default scopes', () => {
    expect(catalogue.ofResource('https://api.example.com')).toEqual(['b', 'c']);
    expect(catalogue.ofResource('https://files.example.com')).toEqual(['a']);
    expect(catalogue.ofResource('https://other.example.com')).toEqual([]);
    expect(catalogue.defaults).toEqual(['b']);
  });

  it('does not mistake a property of Object for a scope', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(catalogue.has(name)).toBe(false);
      expect(catalogue.find(name)).toBeNull();
    }
  });
});

describe('a list of scopes', () => {
  it.each([
    ['a b', ['a', 'b']],
    ['b a b', ['b', 'a']],
    ['a,b', ['a', 'b']],
    [' a ,  b,', ['a', 'b']],
    ['', []],
    [' , ', []],
    ['a\tb', ['a\tb']],
  ])('with the text %j contains the unique tokens %j', (list, tokens) => {
    expect(scopeTokens(list)).toEqual(tokens);
  });
});
