import fc, { assert, constantFrom, oneof, property, string, webUrl } from 'fast-check';
import { isRegistered, privateSchemeProblem, registrationProblem } from '#oauth/redirect-uri.js';
import type { ClientType } from '#oauth/oauth-client.js';

describe('registrationProblem', () => {
  // @deviation D16
  it.each([
    // @rfc 8252 7.2
    'https://app.example.com/callback',
    'https://app.example.com',
    'https://app.example.com/',
    'https://app.example.com:8443/a/b.c/..d?x=1&y=%2F',
    'https://app.example.com/callback?via=a/../b',
    'https://xn--bcher-kva.example/callback',
    'http://localhost/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.1:49152/callback',
    'http://[::1]:8080/callback',
    `https://app.example.com/${'x'.repeat(1_976)}`,
  ])('accepts %s for both types of client', (uri) => {
    expect(registrationProblem(uri, { type: 'confidential' })).toBeNull();
    expect(registrationProblem(uri, { type: 'public' })).toBeNull();
  });

  // FAPI 2.0 5.3.2.2
  it.each(['http://localhost/callback', 'http://127.0.0.1:49152/callback', 'http://[::1]:8080/callback'])(
    'rejects %s for clients with the profile fapi2',
    (uri) => {
      expect(registrationProblem(uri, { type: 'confidential', profile: 'fapi2' })).toBe('unencrypted_fapi');
      expect(registrationProblem(uri, { type: 'confidential', profile: null })).toBeNull();
    },
  );

  // @rfc 8252 7.1
  it.each(['com.example.app:/callback', 'com.example.app://callback', 'com.example.my-app:/oauth?x=1'])(
    'accepts %s for public clients only (RFC 8252 7.1)',
    (uri) => {
      expect(registrationProblem(uri, { type: 'public' })).toBeNull();
      expect(registrationProblem(uri, { type: 'confidential' })).toBe('private_scheme');
    },
  );

  // @rfc 6749 3.1.2 @rfc 6749 3.1.2.2 @deviation D25
  it.each([
    ['', 'characters'],
    ['/callback', 'relative'],
    ['app.example.com/callback', 'relative'],
    ['//app.example.com/callback', 'relative'],
    ['https://', 'relative'],
    ['https:app.example.com/callback', 'rewritten'],
    ['https://app.example.com/callback#', 'fragment'],
    ['https://app.example.com/callback#part', 'fragment'],
    ['https://*.example.com/callback', 'wildcard'],
    ['https://app.example.com/*', 'wildcard'],
    ['https://user:secret@app.example.com/', 'userinfo'],
    ['https://app.example.com@evil.example/', 'userinfo'],
    ['https://@app.example.com/', 'userinfo'],
    ['javascript:alert(1)', 'unknown_scheme'],
    ['data:text/html,hello', 'unknown_scheme'],
    ['file:///etc/passwd', 'unknown_scheme'],
    ['vbscript:x', 'unknown_scheme'],
    ['blob:https://app.example.com/1', 'unknown_scheme'],
    ['ftp://app.example.com/', 'unknown_scheme'],
    // @rfc 8252 7.1
    ['myapp:/callback', 'unknown_scheme'],
    ['COM.example.app:/callback', 'rewritten'],
    ['com.example.app:/callback#done', 'fragment'],
    ['com.example.app://user@callback/', 'userinfo'],
    ['com.example.*:/callback', 'wildcard'],
    ['intent://callback/;scheme=com.example.app;end', 'unknown_scheme'],
    ['about:blank', 'unknown_scheme'],
    ['mailto:ada@example.com', 'unknown_scheme'],
    ['wss://app.example.com/', 'unknown_scheme'],
    ['javascript://app.example.com/%0aalert(1)', 'unknown_scheme'],
    ['com.example.app:callback', 'no_path'],
    ['com.example.app:/', 'no_path'],
    ['http://app.example.com/callback', 'unencrypted'],
    ['http://127.0.0.1.evil.example/', 'unencrypted'],
    ['http://localhost.evil.example/', 'unencrypted'],
    ['http://192.168.0.1/', 'unencrypted'],
    ['http://127.0.0.2/callback', 'unencrypted'],
    ['http://0.0.0.0/callback', 'unencrypted'],
    ['http://[::]/callback', 'unencrypted'],
    ['http://[::ffff:127.0.0.1]/callback', 'unencrypted'],
    ['http://localhost./callback', 'unencrypted'],
    ['http://2130706433/callback', 'rewritten'],
    ['http://127.1/callback', 'rewritten'],
    ['http://user@127.0.0.1/callback', 'userinfo'],
    ['http://127.0.0.1:*/callback', 'wildcard'],
    ['http://127.0.0.1:80/callback', 'rewritten'],
    ['https://app.example.com/a/../callback', 'dot_segment'],
    ['https://app.example.com/./callback', 'dot_segment'],
    ['https://app.example.com/a/%2e%2E/callback', 'dot_segment'],
    ['https://app.example.com/a\\..\\callback', 'dot_segment'],
    ['https://app.example.com/a/..', 'dot_segment'],
    ['com.example.app:/a/../b', 'dot_segment'],
    ['https://App.Example.com/callback', 'rewritten'],
    ['HTTPS://app.example.com/callback', 'rewritten'],
    ['https://app.example.com:443/callback', 'rewritten'],
    ['https:\\\\app.example.com\\callback', 'rewritten'],
    ['https://app.example.com?x=1', 'rewritten'],
    ['http://0x7f000001/', 'rewritten'],
    ['https://app.example.com/call back', 'characters'],
    ['https://app.example.com/\r\nSet-Cookie:x', 'characters'],
    ['https://app.example.com/\0', 'characters'],
    [' https://app.example.com/', 'characters'],
    ['https://bücher.example/', 'characters'],
    ['https://app.example.com/%zz', 'percent'],
    [`https://app.example.com/${'x'.repeat(1_977)}`, 'too_long'],
  ])('rejects %j even for a public client, with the reason', (uri, problem) => {
    expect(registrationProblem(uri, { type: 'public' })).toBe(problem);
    expect(registrationProblem(uri, { type: 'confidential' })).not.toBeNull();
  });

  // @rfc 6749 3.1.2.1 @rfc 9700 2.6
  it('accepts only URIs that browsers follow unchanged to an encrypted, loopback or app address', () => {
    const character = constantFrom(...'https:/..@#?*%2e\\[]a1-com.example '.split(''));
    const almost = string({ unit: character, maxLength: 40 });
    assert(
      property(
        oneof(
          almost,
          almost.map((rest) => `https://${rest}`),
          webUrl(),
        ),
        (uri) => {
          if (registrationProblem(uri, { type: 'public' }) !== null) return;
          const { href, hash, username, protocol, hostname } = new URL(uri);
          expect([uri, `${uri}/`]).toContain(href);
          expect([hash, username]).toEqual(['', '']);
          if (protocol === 'http:') expect(['localhost', '127.0.0.1', '[::1]']).toContain(hostname);
          else expect(protocol).toMatch(/^https:$|\./);
        },
      ),
      { numRuns: 500 },
    );
  });
});

// @deviation D32
describe('a scheme that the operator admits', () => {
  const admitted = { type: 'public', privateSchemes: ['cursor', 'vscode'] } as const;

  it('permits its redirect URIs, but no other scheme', () => {
    for (const uri of [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'vscode://vscode.git/done',
      'cursor:/callback',
    ])
      expect(registrationProblem(uri, admitted)).toBeNull();
    expect(registrationProblem('zed://callback', admitted)).toBe('unknown_scheme');
  });

  it('permits no URI that is otherwise invalid', () => {
    expect(registrationProblem('cursor://callback#x', admitted)).toBe('fragment');
    expect(registrationProblem('cursor:callback', admitted)).toBe('no_path');
    expect(registrationProblem('cursor://a/callback', { ...admitted, type: 'confidential' })).toBe(
      'private_scheme',
    );
  });

  it.each(['cursor', 'vscode', 'vscode-insiders', 'windsurf', 'h2app'])('may be %s', (scheme) => {
    expect(privateSchemeProblem(scheme)).toBeNull();
  });

  it.each(
    (
      'javascript data file blob about http https ws vbscript filesystem intent view-source chrome-extension ' +
      'applescript app-settings callto itms-services itms-appss jnlp mhtml microsoft-edge shortcuts terminal x-apple-reminderkit ' +
      'x-man-page moz-extension ms-msdt search-ms mailto tel smb ssh c Cursor cursor: cursor:// cür 1password com.example.app'
    ).split(' '),
  )('must not be %j', (scheme) => {
    expect(privateSchemeProblem(scheme)).not.toBeNull();
  });
});

interface Parts {
  readonly scheme: string;
  readonly userinfo: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

/** Parts of registered URIs; SENT adds parts that occur only in requests. */
const REGISTERED = {
  scheme: ['http'],
  userinfo: [''],
  host: ['127.0.0.1', '[::1]', 'localhost'],
  port: ['', ':1', ':8080', ':65535'],
  path: ['', '/', '/cb', '/cb/', '/CB'],
  query: ['', '?', '?a=1', '?a=2'],
  fragment: [''],
};
const HOSTS = [
  '127.0.0.2',
  '127.1',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  'LOCALHOST',
  'localhost.',
  'localhost.evil.example',
];
const SENT = {
  scheme: [...REGISTERED.scheme, 'https', 'HTTP', 'ws'],
  userinfo: [...REGISTERED.userinfo, '@', 'a@', 'localhost:80@'],
  host: [...REGISTERED.host, ...HOSTS, 'evil.example', ''],
  port: [...REGISTERED.port, ':80', ':', ':0', ':080', ':65536', ':99999', ':8080x', ':８０'],
  path: [...REGISTERED.path, '//', '/.', '/a/..', '/%63b', '\\', ';'],
  query: [...REGISTERED.query, '?A=1', '?a=1&', '?a=%31'],
  fragment: [...REGISTERED.fragment, '#', '#a'],
};
const PORTS = new Set(['', ':1', ':80', ':8080', ':65535']);

const partsOf = (choices: Readonly<Record<keyof Parts, string[]>>): fc.Arbitrary<Parts> =>
  fc.record({
    scheme: fc.constantFrom(...choices.scheme),
    userinfo: fc.constantFrom(...choices.userinfo),
    host: fc.constantFrom(...choices.host),
    port: fc.constantFrom(...choices.port),
    path: fc.constantFrom(...choices.path),
    query: fc.constantFrom(...choices.query),
    fragment: fc.constantFrom(...choices.fragment),
  });

const uriOf = ({ scheme, userinfo, host, port, path, query, fragment }: Parts): string =>
  `${scheme}://${userinfo}${host}${port}${path}${query}${fragment}`;

function accepts(type: ClientType, registered: string, sent: string): boolean {
  return isRegistered(sent, { type, redirectUris: [registered] });
}

describe('a loopback redirect URI', () => {
  const pairs = fc.record({ registered: partsOf(REGISTERED) }).chain(({ registered }) =>
    fc.record({
      registered: fc.constant(registered),
      // Most parts equal the registered parts, because otherwise hardly any two URIs would match.
      sent: fc.record(
        Object.fromEntries(
          (Object.keys(SENT) as (keyof Parts)[]).map((part) => [
            part,
            fc.oneof({ weight: 6, arbitrary: fc.constant(registered[part]) }, fc.constantFrom(...SENT[part])),
          ]),
        ) as Record<keyof Parts, fc.Arbitrary<string>>,
      ),
    }),
  );
  const RUNS = { numRuns: 1_000 };

  // @rfc 8252 8.4
  it('may differ only in its port for a public client, and its empty path equals / (RFC 3986 6.2.3)', () => {
    fc.assert(
      fc.property(pairs, ({ registered, sent }) => {
        const alike =
          (['scheme', 'userinfo', 'host', 'query', 'fragment'] as const).every(
            (part) => sent[part] === registered[part],
          ) &&
          (sent.path || '/') === (registered.path || '/') &&
          PORTS.has(sent.port);
        expect([uriOf(sent), accepts('public', uriOf(registered), uriOf(sent))]).toEqual([
          uriOf(sent),
          alike,
        ]);
      }),
      RUNS,
    );
  });

  it('is compared character by character for a confidential client', () => {
    fc.assert(
      fc.property(pairs, ({ registered, sent }) => {
        const same = uriOf(registered) === uriOf(sent);
        expect([uriOf(sent), accepts('confidential', uriOf(registered), uriOf(sent))]).toEqual([
          uriOf(sent),
          same,
        ]);
      }),
      RUNS,
    );
  });
});

it.each([
  ['https://localhost', 'https://localhost:8443'],
  ['https://localhost', 'https://localhost/'],
  ['https://app.example.com', 'https://app.example.com/'],
  ['http://app.example.com/', 'http://app.example.com:8080/'],
  ['com.example.app:/', 'com.example.app:'],
])(
  'the non-loopback URI %s is compared character by character, and does not match %s',
  (registered, sent) => {
    expect(accepts('public', registered, registered)).toBe(true);
    expect(accepts('public', registered, sent)).toBe(false);
  },
);
