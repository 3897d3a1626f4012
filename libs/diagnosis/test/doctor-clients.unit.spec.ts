import type { EnabledClient } from '#clients/client.js';
import {
  DOCTOR_CLIENT_CHECKS,
  examineClient,
  hostsToResolve,
  type ClientContext,
} from '#diagnosis/client.checks.js';
import type { Finding } from '#diagnosis/finding.js';
import { describeRemedy } from '#error-guide/doctor/remedies.js';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-06-01T12:00:00Z');
const daysAgo = (days: number) => new Date(NOW - days * DAY);
const secret = (days: number, lastUsedAt: Date | null = new Date('2026-05-31'), id = `s${days}`) => ({
  id,
  createdAt: daysAgo(days),
  lastUsedAt,
  expiresAt: null as Date | null,
});

const CLIENT: EnabledClient = {
  clientId: 'sc_a',
  name: 'Calendar',
  type: 'confidential',
  privateSchemes: [],
  redirectUris: ['https://app.example.com/cb'],
  scopes: ['profile:read'],
  idTokenAlg: null,
  secrets: [secret(10)],
  grantType: 'authorization_code',
  documentProblem: null,
  stage: 'live',
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
const remedyOf = (finding: Finding | undefined) => finding && describeRemedy(finding.remedy);
const checks = (...args: Parameters<typeof found>) => found(...args).map(({ check }) => check);
const PUBLIC = { type: 'public', secrets: [] } as const;

describe('the clients area of doctor', () => {
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
  ])('compares a client with the ID token keys: %s', (_, client, idTokenAlgs, expected) => {
    expect(checks(client, { idTokenAlgs, scopes: ['openid', 'profile:read'] })).toEqual(expected);
  });

  it('reports no problem for a valid client', () => {
    expect(found({})).toEqual([]);
  });

  it.each<[string, number, EnabledClient['stage'], string[]]>([
    ['has expired', -1, 'live', ['secret-expired']],
    ['expires in 14 days', 14, 'live', ['secret-expires']],
    ['expires in 15 days', 15, 'live', []],
    ['has expired, of an application in testing', -1, 'testing', []],
  ])('reports a secret that %s: %d days', (_, days, stage, expected) => {
    expect(checks({ stage, secrets: [{ ...secret(10), expiresAt: daysAgo(-days) }] })).toEqual(expected);
  });

  it.each<[string, Partial<EnabledClient>, string[]]>([
    ['unencrypted', { redirectUris: ['http://app.example.com/cb'] }, ['redirect-uri-unencrypted']],
    [
      'unencrypted, of a public client',
      { ...PUBLIC, redirectUris: ['http://10.0.0.1/cb'] },
      ['redirect-uri-unencrypted', 'client-public'],
    ],
    [
      'invalid because of a wildcard',
      { redirectUris: ['https://*.example.com/cb'] },
      ['redirect-uri-invalid'],
    ],
    [
      'invalid because of a fragment',
      { redirectUris: ['https://app.example.com/cb#x'] },
      ['redirect-uri-invalid'],
    ],
    [
      'a loopback address of a confidential client',
      { redirectUris: ['http://127.0.0.1:3000/cb'] },
      ['redirect-uri-loopback'],
    ],
    [
      'a loopback address of a native application',
      { ...PUBLIC, redirectUris: ['http://127.0.0.1/cb'] },
      ['client-public'],
    ],
    [
      'the localhost address of a native application',
      { ...PUBLIC, redirectUris: ['http://localhost/cb'] },
      ['redirect-uri-localhost', 'client-public'],
    ],
    ['a private-use scheme', { ...PUBLIC, redirectUris: ['com.example.app:/cb'] }, ['client-public']],
  ])('examines a redirect URI: %s', (_, client, expected) => {
    expect(checks(client)).toEqual(expected);
  });

  it('reports a redirect URI whose host does not exist', () => {
    expect(checks({}, { unresolvable: new Set(['app.example.com']) })).toEqual(['redirect-uri-unresolvable']);
  });

  it('resolves each host name once, and no IP addresses', () => {
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
    ['a new, unused secret', [secret(30, null)], []],
    ['a secret without any use in 31 days', [secret(31, null)], ['secret-never-used']],
    ['a secret that is one year old', [secret(365)], []],
    ['a secret older than one year', [secret(366)], ['secret-old']],
    ['an old secret and a new secret from this month', [secret(200), secret(30, null)], []],
    ['an old secret and a new secret from last month', [secret(400), secret(31)], ['secret-rotation-open']],
  ])('examines secrets: %s', (_, secrets, expected) => {
    expect(checks({ secrets })).toEqual(expected);
  });

  it('reports undeclared scopes, unless the declared scopes are unknown', () => {
    const client = { scopes: ['profile:read', 'gone:read'] };
    const [finding] = found(client);
    expect(finding).toMatchObject({
      check: 'client-scope-unknown',
      problem: expect.stringContaining('"gone:read"'),
    });
    expect(remedyOf(finding)).toEqual([
      { text: 'remove them', command: ['client', 'update', 'sc_a', '--remove-scope', 'gone:read'] },
    ]);
    expect(found(client, { scopes: null })).toEqual([]);
  });

  it('reports a client that has not used PKCE', () => {
    expect(found({}, { withoutPkce: new Map([['sc_a', 2]]) })).toMatchObject([
      { check: 'client-without-pkce', problem: expect.stringContaining('2 codes') },
    ]);
  });

  it('keeps each registered value as one word of a command', () => {
    const redirectUris = ["http://a.example.com/$(reboot)'", 'https://a.example.com/cb'];
    const [finding] = found({ clientId: '$(reboot)', redirectUris });
    expect(remedyOf(finding)).toEqual([
      {
        text: expect.any(String),
        command: ['client', 'update', '$(reboot)', '--remove-redirect-uri', redirectUris[0]],
      },
    ]);
  });

  it('does not suggest removing the last redirect URI or the last scope', () => {
    const [unencrypted] = found({ redirectUris: ['http://a.example.com/cb'] });
    expect(remedyOf(unencrypted)).toMatch(/replace it/);
    const [unknown] = found({ scopes: ['gone:read'] });
    expect(remedyOf(unknown)).toMatch(/in the same change/);
  });

  it('names a declared check in every finding', () => {
    const all = found(
      {
        redirectUris: ['http://x.example/', 'https://*.x/', 'http://127.0.0.1/'],
        secrets: [],
        scopes: ['gone'],
      },
      { withoutPkce: new Map([['sc_a', 1]]) },
    );
    for (const { check } of all) expect(Object.keys(DOCTOR_CLIENT_CHECKS)).toContain(check);
  });
});
