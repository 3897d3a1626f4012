import fc from 'fast-check';
import type { ClientType } from '#oauth/client.js';
import { isRegistered } from '#oauth/redirect-uri.js';

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
      // Most parts equal the registered ones: otherwise hardly any two URIs would match.
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
  const RUNS = { numRuns: 5_000 };

  // @rfc 8252 8.4
  it('of a public client may differ only in its port; an empty path equals / (RFC 3986 6.2.3)', () => {
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

  it('of a confidential client is compared character by character', () => {
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
