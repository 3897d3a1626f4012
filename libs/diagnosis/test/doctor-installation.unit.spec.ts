import type { DatabaseFacts } from '#database/database-inspection.js';
import {
  type ProbeResponse,
  examineAddresses,
  examineApi,
  examineMetadata,
  examineMetrics,
  examinePlainHttp,
  examineResourceMetadata,
  examineRoute,
} from '#diagnosis/address.checks.js';
import { examineHeaders, examineLoginPage } from '#diagnosis/header.checks.js';
import { examineDatabase } from '#diagnosis/database.checks.js';
import { diagnose } from '#diagnosis/diagnose.js';
import { describeRemedy } from '#error-guide/doctor/remedies.js';
import { type Area, declareChecks } from '#diagnosis/finding.js';

const ADDRESSES = {
  authUrl: 'https://auth.example.com',
  baseUrl: 'https://base.example.com',
  apiUrl: 'https://api.example.com',
};

const answer = (status: number, headers: Record<string, string> = {}, body: unknown = ''): ProbeResponse => ({
  status,
  headers: new Headers(headers),
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const ids = (findings: readonly { readonly check: string }[]) => findings.map((finding) => finding.check);

describe('the addresses area of doctor', () => {
  it.each([
    [ADDRESSES, []],
    [{ ...ADDRESSES, apiUrl: 'http://api.example.com' }, ['address-unencrypted']],
    [{ ...ADDRESSES, apiUrl: 'http://localhost:3003' }, ['address-loopback']],
    [{ ...ADDRESSES, apiUrl: 'https://base.example.com:8443' }, ['address-shared']],
  ])('examines %j', (addresses, expected) => {
    expect(ids(examineAddresses(addresses))).toEqual(expected);
  });

  it.each<[string, ProbeResponse | null, string[]]>([
    ['no response', null, []],
    ['a redirect to https', answer(308, { location: 'https://auth.example.com/' }), []],
    ['an error', answer(404), []],
    ['a redirect to http', answer(302, { location: 'http://auth.example.com/login' }), ['address-http']],
    ['a page', answer(200), ['address-http']],
  ])('examines the response over plain http: %s', (_, given, expected) => {
    expect(ids(examinePlainHttp(ADDRESSES.authUrl, given))).toEqual(expected);
  });

  const METADATA = {
    issuer: 'https://base.example.com',
    authorization_endpoint: 'https://auth.example.com/auth/oauth2/authorize',
    token_endpoint: 'https://base.example.com/api/auth/oauth/token',
    revocation_endpoint: 'https://base.example.com/api/auth/oauth/revoke',
    introspection_endpoint: 'https://base.example.com/api/auth/oauth/introspect',
    pushed_authorization_request_endpoint: 'https://base.example.com/api/auth/oauth/par',
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };

  it.each<[string, ProbeResponse, string[]]>([
    ['without problems', answer(200, {}, METADATA), []],
    [
      'of another issuer',
      answer(200, {}, { ...METADATA, issuer: 'https://base.example.com/' }),
      ['metadata-wrong'],
    ],
    ['missing', answer(404), ['metadata-wrong']],
    ['not JSON', answer(200, {}, '<html>'), ['metadata-wrong']],
    ['the JSON value null', answer(200, {}, 'null'), ['metadata-wrong']],
    [
      'with plain PKCE',
      answer(200, {}, { ...METADATA, code_challenge_methods_supported: ['S256', 'plain'] }),
      ['metadata-weak'],
    ],
    [
      'with the implicit grant',
      answer(200, {}, { ...METADATA, grant_types_supported: ['implicit'] }),
      ['metadata-weak'],
    ],
    [
      'with tokens in the redirect',
      answer(200, {}, { ...METADATA, response_types_supported: ['code', 'token'] }),
      ['metadata-weak'],
    ],
  ])('examines metadata: %s', (_, given, expected) => {
    expect(ids(examineMetadata(ADDRESSES, given))).toEqual(expected);
  });

  it('examines the metadata of the API', () => {
    const metadata = { resource: ADDRESSES.apiUrl, authorization_servers: [ADDRESSES.baseUrl] };
    expect(examineResourceMetadata(ADDRESSES, answer(200, {}, metadata))).toEqual([]);
    const other = { ...metadata, authorization_servers: ['https://evil.example'] };
    expect(ids(examineResourceMetadata(ADDRESSES, answer(200, {}, other)))).toEqual(['metadata-wrong']);
  });

  it('examines the API’s response to a request without a token', () => {
    const challenge = { 'www-authenticate': 'Bearer resource_metadata="https://api.example.com/x"' };
    expect(examineApi(ADDRESSES, answer(401, challenge))).toEqual([]);
    expect(ids(examineApi(ADDRESSES, answer(401)))).toEqual(['api-open']);
    expect(ids(examineApi(ADDRESSES, answer(200, challenge)))).toEqual(['api-open']);
  });

  it.each<[string, ProbeResponse, string[]]>([
    [
      'of the app',
      answer(404, { 'content-security-policy': "default-src 'none';frame-ancestors 'none'" }),
      [],
    ],
    [
      'of the app, without the policy that a proxy replaced',
      answer(405, {
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': 'upgrade-insecure-requests',
      }),
      [],
    ],
    ['of a proxy that limits requests', answer(429), []],
    ['of a proxy without a route', answer(404, { 'x-frame-options': 'DENY' }), ['path-not-routed']],
    ['of another application', answer(200, {}, '<html>'), ['path-not-routed']],
  ])('examines the route of a path: the response is %s', (_, given, expected) => {
    expect(ids(examineRoute('token', 'https://base.example.com/x', given))).toEqual(expected);
  });

  it('reports public metrics', () => {
    expect(ids(examineMetrics('https://x.example', answer(200, {}, '# HELP a b\n')))).toEqual([
      'internal-port-public',
    ]);
    expect(examineMetrics('https://x.example', answer(404))).toEqual([]);
  });

  const HEADERS = {
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'set-cookie': '__Host-session=opaque; Path=/; HttpOnly; SameSite=Lax; Secure',
  };

  it.each<[string, Record<string, string>, string[]]>([
    ['without problems', {}, []],
    ['without HSTS', { 'strict-transport-security': '' }, ['header-hsts']],
    [
      'with HSTS for a month',
      { 'strict-transport-security': 'max-age=2592000; includeSubDomains' },
      ['header-hsts'],
    ],
    ['with HSTS without subdomains', { 'strict-transport-security': 'max-age=31536000' }, ['header-hsts']],
    ['without a Content-Security-Policy', { 'content-security-policy': '' }, ['header-framing']],
    [
      'with inline scripts',
      { 'content-security-policy': "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'none'" },
      ['header-framing'],
    ],
    ['without nosniff', { 'x-content-type-options': '' }, ['header-nosniff']],
    ['with an unsafe Referrer-Policy', { 'referrer-policy': 'unsafe-url' }, ['header-referrer']],
    ['without a Referrer-Policy', { 'referrer-policy': '' }, ['header-referrer']],
    ['that caches may store', { 'cache-control': 'private' }, ['header-cache']],
    ['with CORS', { 'access-control-allow-origin': '*' }, ['authorize-cors']],
    [
      'with a cookie that scripts can read',
      { 'set-cookie': '__Host-session=x; Path=/; SameSite=Lax; Secure' },
      ['cookie-weak'],
    ],
    [
      'with a cookie that is sent over http',
      { 'set-cookie': '__Host-session=x; Path=/; HttpOnly; SameSite=Lax' },
      ['cookie-weak'],
    ],
    [
      'with a cookie for other sites',
      { 'set-cookie': '__Host-session=x; Path=/; HttpOnly; SameSite=None; Secure' },
      ['cookie-weak'],
    ],
    [
      'with a cookie for other hosts',
      { 'set-cookie': 'session=x; Domain=example.com; HttpOnly; SameSite=Lax; Secure' },
      ['cookie-weak'],
    ],
  ])('examines a login page %s', (_, headers, expected) => {
    const findings = examineLoginPage(ADDRESSES, answer(200, { ...HEADERS, ...headers }));
    expect(ids(findings)).toEqual(expected);
    expect(JSON.stringify(findings)).not.toContain('=x');
  });

  it('does not require HSTS and Secure cookies on localhost', () => {
    const local = { ...ADDRESSES, authUrl: 'http://localhost:3001' };
    const headers = {
      ...HEADERS,
      'strict-transport-security': '',
      'set-cookie': 'session=x; HttpOnly; SameSite=Lax',
    };
    expect(examineLoginPage(local, answer(200, headers))).toEqual([]);
    expect(examineHeaders(local.authUrl, 'x', answer(200, headers))).toEqual([]);
  });
});

const DATABASE: DatabaseFacts = {
  place: 'db.example.com:5432/oauth',
  version: '17.2',
  role: 'oauth',
  superuser: false,
  encrypted: true,
  local: false,
  settings: { synchronous_commit: 'on', fsync: 'on', full_page_writes: 'on' },
  overrides: [],
  hasStandbys: false,
  connections: 40,
  maxConnections: 100,
  pendingMigrations: [],
  clock: { time: 0, askedAt: 0, answeredAt: 0 },
};

describe('the postgresql area of doctor', () => {
  it.each<[string, Partial<DatabaseFacts>, string[]]>([
    ['without problems', {}, []],
    ['that lacks a migration', { pendingMigrations: ['X1'] }, ['migrations-missing']],
    [
      'with synchronous_commit off',
      { settings: { ...DATABASE.settings, synchronous_commit: 'off' } },
      ['database-not-durable'],
    ],
    [
      'with synchronous_commit local and no standby',
      { settings: { ...DATABASE.settings, synchronous_commit: 'local' } },
      [],
    ],
    [
      'with synchronous_commit local and a synchronous standby',
      { settings: { ...DATABASE.settings, synchronous_commit: 'local' }, hasStandbys: true },
      ['database-not-durable'],
    ],
    ['with fsync off', { settings: { ...DATABASE.settings, fsync: 'off' } }, ['database-not-durable']],
    [
      'with full_page_writes off',
      { settings: { ...DATABASE.settings, full_page_writes: 'off' } },
      ['database-not-durable'],
    ],
    [
      'with synchronous_commit off for a role',
      { overrides: [{ role: 'app', database: null, value: 'off' }] },
      ['database-not-durable'],
    ],
    ['without TLS', { encrypted: false }, ['database-unencrypted']],
    ['without TLS on this machine', { encrypted: false, local: true }, []],
    ['whose role is a superuser', { superuser: true }, ['database-superuser']],
    ['whose connections are nearly used up', { connections: 80 }, ['database-connections']],
  ])('examines a database %s', (_, facts, expected) => {
    expect(ids(examineDatabase({ ...DATABASE, ...facts }))).toEqual(expected);
  });

  it('names the statement that fixes an override', () => {
    const overrides = [
      { role: 'app', database: 'oauth', value: 'off' },
      { role: null, database: 'oauth', value: 'off' },
    ];
    expect(examineDatabase({ ...DATABASE, overrides }).map(({ remedy }) => describeRemedy(remedy))).toEqual([
      'ALTER ROLE app IN DATABASE oauth RESET synchronous_commit',
      'ALTER DATABASE oauth RESET synchronous_commit',
    ]);
  });
});

describe('a diagnosis', () => {
  const area = (name: Area['name'], examine: Area['examine']): Area => ({
    name,
    checks: declareChecks({
      [`${name}-a`]: 'warning: a',
      [`${name}-b`]: 'error: b',
      [`${name}-c`]: 'info: c',
    }),
    examine,
  });
  const finding = (id: string) => ({
    check: id,
    subject: 's',
    problem: 'p',
    remedy: { id: 'not-examined' } as const,
  });

  it('lists the most severe findings first, then passed and skipped checks', async () => {
    const results = [
      finding('redis-a'),
      finding('redis-b'),
      finding('redis-a'),
      { check: 'redis-c', reason: 'nothing there' },
    ];
    const diagnosis = await diagnose(
      [area('redis', async () => results), area('nats', async () => [])],
      () => undefined,
    );
    expect(ids(diagnosis.findings)).toEqual(['redis-b', 'redis-a', 'redis-a']);
    expect(diagnosis.findings[0]).toMatchObject({ severity: 'error', holds: 'b', area: 'redis' });
    expect(diagnosis.holding).toEqual(['nats-a', 'nats-b', 'nats-c']);
    expect(diagnosis.notChecked).toEqual([{ check: 'redis-c', reason: 'nothing there' }]);
  });

  it('lists at most a hundred findings of a check, and the number of omitted findings', async () => {
    const results = Array.from({ length: 1_000 }, () => finding('redis-a'));
    const { findings } = await diagnose([area('redis', async () => results)], () => undefined);
    expect(findings).toHaveLength(101);
    expect(findings.at(-1)?.subject).toBe('900 others');
  });

  it('continues after an area fails or hangs, without printing credentials', async () => {
    const failing = area('redis', async () =>
      Promise.reject(new Error('no way to postgres://me:secret@db/oauth')),
    );
    const hanging = area('nats', () => new Promise(() => undefined));
    const steps: string[] = [];
    const diagnosis = await diagnose([failing, hanging], (done, total) => steps.push(`${done}/${total}`), 10);
    expect(diagnosis.findings.map(({ subject, problem }) => `${subject}: ${problem}`)).toEqual([
      'redis: no way to postgres://db/oauth',
      'nats: no answer within 0.01 s',
    ]);
    expect(diagnosis.notChecked).toHaveLength(6);
    expect(steps).toEqual(['0/2', '1/2', '2/2']);
  });
});
