import type { EnabledClient } from '#database/client/client.js';
import {
  CLIENT_CHECKS,
  examineClient,
  hostsToResolve,
  type ClientContext,
} from '../../src/doctor/client.checks.js';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-06-01T12:00:00Z');
const daysAgo = (days: number) => new Date(NOW - days * DAY);
const secret = (days: number, lastUsedOn: string | null = '2026-05-31', id = `s${days}`) => ({
  id,
  createdAt: daysAgo(days),
  lastUsedOn,
});

const CLIENT: EnabledClient = {
  clientId: 'sc_a',
  name: 'Calendar',
  type: 'confidential',
  redirectUris: ['https://app.example.com/cb'],
  scopes: ['profile:read'],
  idTokenAlg: null,
  secrets: [secret(10)],
  grantType: 'authorization_code',
  documentProblem: null,
  jwks: null,
  jwksUri: null,
};
const AROUND: ClientContext = {
  now: NOW,
  scopes: ['profile:read'],
  unresolvable: new Set(),
  idTokenAlgs: ['RS256'],
  withoutConsole: false,
  withoutPkce: new Map(),
};

const found = (client: Partial<EnabledClient>, around: Partial<ClientContext> = {}) =>
  examineClient({ ...CLIENT, ...client }, { ...AROUND, ...around });
const checks = (...args: Parameters<typeof found>) => found(...args).map(({ check }) => check);
const PUBLIC = { type: 'public', secrets: [] } as const;

describe('doctor: clients', () => {
  it('reports a client_credentials client if a token app has no CONSOLE_URL', () => {
    const own = { grantType: 'client_credentials', scopes: ['admin:read'], redirectUris: [] } as const;
    expect(checks(own)).toEqual([]);
    expect(checks(own, { withoutConsole: true })).toEqual(['client-credentials-off']);
    expect(checks({}, { withoutConsole: true })).toEqual([]);
  });

  it.each<[string, Partial<EnabledClient>, ClientContext['idTokenAlgs'], string[]]>([
    ['openid and no keys', { scopes: ['openid'] }, [], ['openid-without-keys']],
    [
      'another algorithm',
      { scopes: ['openid'], idTokenAlg: 'ES256' },
      ['RS256'],
      ['id-token-alg-without-key'],
    ],
    ['an algorithm with a key', { scopes: ['openid'], idTokenAlg: 'ES256' }, ['RS256', 'ES256'], []],
    ['no openid', { idTokenAlg: 'ES256' }, [], []],
    ['no token app that answers', { scopes: ['openid'] }, null, []],
  ])('compares a client with the keys of ID tokens: %s', (_, client, idTokenAlgs, expected) => {
    expect(checks(client, { idTokenAlgs, scopes: ['openid', 'profile:read'] })).toEqual(expected);
  });

  it('finds nothing wrong with a valid client', () => {
    expect(found({})).toEqual([]);
  });

  it.each<[string, Partial<EnabledClient>, string[]]>([
    ['http', { redirectUris: ['http://app.example.com/cb'] }, ['redirect-uri-unencrypted']],
    [
      'http of a public client',
      { ...PUBLIC, redirectUris: ['http://10.0.0.1/cb'] },
      ['redirect-uri-unencrypted', 'client-public'],
    ],
    ['a wildcard', { redirectUris: ['https://*.example.com/cb'] }, ['redirect-uri-invalid']],
    ['a fragment', { redirectUris: ['https://app.example.com/cb#x'] }, ['redirect-uri-invalid']],
    [
      'loopback of a confidential client',
      { redirectUris: ['http://127.0.0.1:3000/cb'] },
      ['redirect-uri-loopback'],
    ],
    [
      'loopback of a native application',
      { ...PUBLIC, redirectUris: ['http://127.0.0.1/cb'] },
      ['client-public'],
    ],
    [
      'localhost of a native application',
      { ...PUBLIC, redirectUris: ['http://localhost/cb'] },
      ['redirect-uri-localhost', 'client-public'],
    ],
    ['a private-use scheme', { ...PUBLIC, redirectUris: ['com.example.app:/cb'] }, ['client-public']],
  ])('judges a redirect URI that is %s', (_, client, expected) => {
    expect(checks(client)).toEqual(expected);
  });

  it('finds a redirect URI whose host does not exist', () => {
    expect(checks({}, { unresolvable: new Set(['app.example.com']) })).toEqual(['redirect-uri-unresolvable']);
  });

  it('resolves only names, each once', () => {
    const redirectUris = [
      'https://app.example.com/a',
      'https://app.example.com/b',
      'https://192.0.2.1/cb',
      'https://[2001:db8::1]/cb',
      'http://localhost/cb',
      'com.example.app:/cb',
      'no uri',
    ];
    expect(hostsToResolve([{ redirectUris }, { redirectUris: ['https://b.example.com/cb'] }])).toEqual([
      'app.example.com',
      'b.example.com',
    ]);
  });

  it.each<[string, EnabledClient['secrets'], string[]]>([
    ['none', [], ['client-without-secret']],
    ['a new one that was not used yet', [secret(30, null)], []],
    ['one that was not used in 31 days', [secret(31, null)], ['secret-never-used']],
    ['one of a year', [secret(365)], []],
    ['one that is older than a year', [secret(366)], ['secret-old']],
    ['an old one beside its successor of this month', [secret(200), secret(30, null)], []],
    ['an old one beside its successor of last month', [secret(400), secret(31)], ['secret-rotation-open']],
  ])('judges secrets: %s', (_, secrets, expected) => {
    expect(checks({ secrets })).toEqual(expected);
  });

  it('finds undeclared scopes, unless the scopes are unknown', () => {
    const client = { scopes: ['profile:read', 'gone:read'] };
    const [finding] = found(client);
    expect(finding).toMatchObject({
      check: 'client-scope-unknown',
      problem: expect.stringContaining('"gone:read"'),
    });
    expect(finding?.remedy).toEqual([
      { text: 'remove them', command: ['client', 'update', 'sc_a', '--remove-scope', 'gone:read'] },
    ]);
    expect(found(client, { scopes: null })).toEqual([]);
  });

  it('finds a client that has not used PKCE', () => {
    expect(found({}, { withoutPkce: new Map([['sc_a', 2]]) })).toMatchObject([
      { check: 'client-without-pkce', problem: expect.stringContaining('2 codes') },
    ]);
  });

  it('has each registered value as one word of a command', () => {
    const redirectUris = ["http://a.example.com/$(reboot)'", 'https://a.example.com/cb'];
    const [finding] = found({ clientId: '$(reboot)', redirectUris });
    expect(finding?.remedy).toEqual([
      {
        text: expect.any(String),
        command: ['client', 'update', '$(reboot)', '--remove-redirect-uri', redirectUris[0]],
      },
    ]);
  });

  it('suggests no command that would be refused: a client must keep a redirect URI and a scope', () => {
    const [unencrypted] = found({ redirectUris: ['http://a.example.com/cb'] });
    expect(unencrypted?.remedy).toMatch(/replace it/);
    const [unknown] = found({ scopes: ['gone:read'] });
    expect(unknown?.remedy).toMatch(/in the same change/);
  });

  it('only finds problems that have a check', () => {
    const all = found(
      {
        redirectUris: ['http://x.example/', 'https://*.x/', 'http://127.0.0.1/'],
        secrets: [],
        scopes: ['gone'],
      },
      { withoutPkce: new Map([['sc_a', 1]]) },
    );
    for (const { check } of all) expect(Object.keys(CLIENT_CHECKS)).toContain(check);
  });
});
