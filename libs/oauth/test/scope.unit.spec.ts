import { DEFAULT_SCOPE, SCOPES, scopeTokens } from '#oauth/scope.js';

describe('scopes', () => {
  it('are RFC 6749 3.3 scope tokens, each with a text for the consent page', () => {
    for (const [scope, words] of SCOPES) {
      expect(scope).toMatch(/^[a-z]+:[a-z]+$/);
      expect(words).toMatch(/^[A-Z].{10,}$/);
    }
    expect([...SCOPES.keys()]).toContain(DEFAULT_SCOPE);
  });

  it.each([
    ['a b', ['a', 'b']],
    ['b a b', ['b', 'a']],
    ['a,b', ['a', 'b']],
    [' a ,  b,', ['a', 'b']],
    ['', []],
    [' , ', []],
    ['a\tb', ['a\tb']],
  ])('are read from %j in order, each once: %j', (list, tokens) => {
    expect(scopeTokens(list)).toEqual(tokens);
  });
});
