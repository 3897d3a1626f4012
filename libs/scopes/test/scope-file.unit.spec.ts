import { parseScopes, ScopeFileError, untranslated } from '#scopes/scope-file.js';

const apiUrl = 'https://api.example.com';
const apis = [apiUrl, 'https://files.example.com'];

const parse = (file: string, known: Parameters<typeof parseScopes>[1] = { apiUrl, apis }) =>
  parseScopes(Buffer.from(file), known);

function problemsOf(file: string): readonly string[] {
  try {
    parse(file);
  } catch (error) {
    if (error instanceof ScopeFileError) return error.problems;
    throw error;
  }
  return [];
}

describe('a scope file', () => {
  it('is refused if it is not UTF-8, which a decoder would change silently', () => {
    const file = Buffer.from('scopes: [{ name: notes:read, text: { en: Lire les éléments } }]', 'latin1');
    expect(() => parseScopes(file, { apiUrl, apis })).toThrow(ScopeFileError);
  });

  it('defines the texts, API, description, access (write by default) and default flag of each scope', () => {
    const { scopes } = parse(`
      scopes:
        - name: notes:read
          access: read
          default: true
          text: { en: Read your notes, de: Ihre Notizen lesen }
        - name: https://files.example.com/auth/files.readonly
          resource: https://files.example.com
          description: Read files
          text: { en: See your files }
    `);
    expect(scopes).toEqual([
      {
        name: 'notes:read',
        access: 'read',
        isDefault: true,
        resource: apiUrl,
        description: 'Read your notes',
        texts: { en: 'Read your notes', de: 'Ihre Notizen lesen' },
      },
      {
        name: 'https://files.example.com/auth/files.readonly',
        access: 'write',
        isDefault: false,
        resource: 'https://files.example.com',
        description: 'Read files',
        texts: { en: 'See your files' },
      },
    ]);
  });

  it.each(['admin:read', 'admin:write', 'admin:operators'])(
    'cannot declare %s, a scope of the HTTP API of the console',
    (name) => {
      expect(problemsOf(`scopes: [{ name: '${name}', default: true, text: { en: A } }]`)).toEqual([
        `${name}: it is a built-in scope of the operators' HTTP API: choose another name`,
      ]);
    },
  );

  it('may lack translations, which are reported', () => {
    const catalogue = parse(`
      scopes:
        - { name: a, default: true, text: { en: A, de: A, fr: A, es: A, pt: A, ja: A, ar: A } }
        - { name: b, text: { en: B, de: B, ja: B } }
    `);
    expect(untranslated(catalogue)).toEqual(['b (fr, es, pt, ar)']);
  });

  it('is rejected with a list of all problems', () => {
    expect(
      problemsOf(`
        scopes:
          - { name: 'two words', text: { en: A } }
          - { name: 'a,b', text: { en: A } }
          - { name: 'quo"te', text: { en: A } }
          - { text: { en: A } }
          - just a name
          - { name: twice, text: { en: A } }
          - { name: twice, text: { en: A } }
          - { name: klingon, text: { en: A, tlh: A } }
          - { name: silent, text: { de: A } }
          - { name: empty, text: { en: '  ' } }
          - { name: number, text: { en: 5 } }
          - { name: textless }
          - { name: elsewhere, resource: 'https://else.example.com', text: { en: A } }
          - { name: path, resource: 'https://files.example.com/v1', text: { en: A } }
          - { name: maybe, default: 'yes', text: { en: A } }
          - { name: both, access: read-write, text: { en: A } }
          - { name: typo, texts: { en: A }, text: { en: A } }
      `),
    ).toEqual([
      expect.stringMatching(/^scope 1: its name must be/),
      expect.stringMatching(/^scope 2: its name must be/),
      expect.stringMatching(/^scope 3: its name must be/),
      expect.stringMatching(/^scope 4: its name must be/),
      expect.stringMatching(/^scope 5: it must be a map/),
      expect.stringMatching(/^klingon: it has a text in the unknown language "tlh"/),
      expect.stringMatching(/^silent: it has no English text/),
      expect.stringMatching(/^empty: its text in "en" must be/),
      expect.stringMatching(/^number: its text in "en" must be/),
      expect.stringMatching(/^textless: "text" must be a map/),
      'elsewhere: its resource https://else.example.com is neither API_URL nor one of OTHER_API_URLS',
      expect.stringMatching(/^path: "resource" must be an origin/),
      'maybe: "default" must be true or false',
      'both: "access" "read-write" is unknown: it must be read or write',
      expect.stringMatching(/^typo: it has an unknown field "texts"/),
      'twice: it is declared more than once',
    ]);
  });

  it('is rejected with every problem of one scope', () => {
    const problems = problemsOf(
      'scopes: [{ name: a, access: 1, default: 1, resource: a, description: 1, colour: red, text: { en: 1, tlh: A } }]',
    );
    expect(problems).toHaveLength(7);
    expect(problems.filter((problem) => !problem.startsWith('a: '))).toEqual([]);
  });

  // @rfc 6749 3.3
  it('must declare a default scope for requests without scope', () => {
    expect(problemsOf('scopes: [{ name: a, text: { en: A } }]')).toEqual([
      expect.stringMatching(/^no scope is the default/),
    ]);
  });

  it.each(['', 'scopes: []', 'scopes: text', '- name: a', 'scopes: [{ name: a }]\nother: 1'])(
    'is rejected if it is not a list of scopes: %j',
    (file) => expect(problemsOf(file)).toHaveLength(1),
  );

  it('is rejected with a line number if it is not YAML', () => {
    expect(problemsOf('scopes:\n  - name: a\n   text: {')[0]).toMatch(/line [23]/);
  });

  it('may name any API if another process validates the APIs', () => {
    const file = 'scopes: [{ name: a, default: true, resource: https://else.example.com, text: { en: A } }]';
    expect(parse(file, { apiUrl, apis: null }).ofResource('https://else.example.com')).toEqual(['a']);
  });
});
