import type { ServiceStatus } from '#platform/status/status-report.js';
import { type Certificate, examineCertificate } from '#diagnosis/certificate.checks.js';
import { examineIdTokenKeys, examineKeys, signingAlgorithms } from '#diagnosis/key.checks.js';
import { examineNats, type NatsFacts } from '#diagnosis/nats.checks.js';
import {
  type ClockReading,
  examineBuffers,
  examineClocks,
  examineProcesses,
  examineRights,
} from '#diagnosis/process.checks.js';
import { examineRedis } from '#diagnosis/redis.checks.js';

const ids = (findings: readonly { readonly check: string }[]) => findings.map((finding) => finding.check);

const SETTINGS = { NODE_ENV: 'production', BASE_URL: 'https://base.example.com', SCOPES_FILE: 'sha256 aa' };
const status = (service: string, instance: string, changes: Partial<ServiceStatus> = {}): ServiceStatus => ({
  service,
  instance,
  version: '1.0.0',
  started_at: '2026-06-01T00:00:00.000Z',
  time: '2026-06-01T12:00:00.000Z',
  settings: SETTINGS,
  ...changes,
});
const ALL = ['authorize', 'token', 'resource'].flatMap((name) => [status(name, 'a:1'), status(name, 'b:1')]);
const OWN = { version: '1.0.0', settings: { BASE_URL: SETTINGS.BASE_URL } };

describe('the ID token key check of doctor', () => {
  const [one, two] = ['one', 'two'].map((name) => name.padEnd(43, 'x')) as [string, string];
  const keys = (...ids: string[]) =>
    ids.map((id, at) => ({
      id,
      alg: 'RS256',
      role: at === 0 ? ('signing' as const) : ('verifying' as const),
    }));

  it('accepts the same keys in any order, and processes that do not report keys', () => {
    const statuses = [
      status('token', 'a:1', { id_token_keys: keys(one, two) }),
      status('token', 'b:1', { id_token_keys: keys(two, one) }),
      status('authorize', 'a:1', { id_token_keys: keys(one, two) }),
      status('resource', 'a:1'),
    ];
    expect(examineIdTokenKeys(statuses)).toEqual([]);
  });

  it('names the processes that lack a key', () => {
    const statuses = [
      status('token', 'a:1', { id_token_keys: keys(one, two) }),
      status('authorize', 'a:1', { id_token_keys: keys(one) }),
    ];
    const [finding, ...others] = examineIdTokenKeys(statuses);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ check: 'id-token-keys-differ', subject: `ID token key ${two}` });
    expect(finding).toHaveProperty('problem', expect.stringContaining('authorize a:1 does not'));
  });

  it('names the algorithms that every token app can sign with', () => {
    const rsa = { id: one, alg: 'RS256', role: 'signing' } as const;
    const ec = { id: two, alg: 'ES256', role: 'signing' } as const;
    const statuses = [
      status('token', 'a:1', { id_token_keys: [rsa, ec] }),
      status('token', 'b:1', { id_token_keys: [rsa] }),
      status('authorize', 'a:1', { id_token_keys: [{ ...ec, role: 'verifying' }] }),
    ];
    expect(signingAlgorithms(statuses)).toEqual(['RS256']);
    expect(signingAlgorithms(ALL)).toBeNull();
  });
});

describe('the check of rights of doctor', () => {
  it('accepts a process that has the rights that it needs', () => {
    expect(examineRights('PostgreSQL', 'token a:1', { user: 'token', extra: [], missing: [] })).toEqual([]);
    expect(examineRights('Redis', 'token a:1', undefined)).toEqual([]);
  });

  it('names missing and excessive rights, but not all rights of an administrator', () => {
    const extra = Array.from({ length: 20 }, (_, n) => `SELECT table${n}`);
    const [missing, excessive, ...others] = examineRights('PostgreSQL', 'token a:1', {
      user: 'postgres',
      extra,
      missing: ['UPDATE grants (revoked_at)'],
    });
    expect(others).toEqual([]);
    expect(missing).toMatchObject({
      check: 'rights-missing',
      subject: 'postgres of token a:1 at PostgreSQL',
    });
    expect(missing).toHaveProperty('problem', 'it lacks UPDATE grants (revoked_at)');
    expect(excessive).toMatchObject({ check: 'rights-excessive' });
    expect(excessive).toHaveProperty('problem', expect.stringMatching(/SELECT table7 and 12 more$/));
  });
});

describe('the processes area of doctor', () => {
  it('reports no problem for two consistent processes per app', () => {
    expect(examineProcesses(ALL, OWN)).toEqual([]);
  });

  it('reports an app that does not answer, and an app with a single process', () => {
    expect(ids(examineProcesses(ALL.slice(1), OWN))).toEqual(['process-single']);
    expect(ids(examineProcesses(ALL.slice(2), OWN))).toEqual(['process-missing']);
  });

  const withOne = (changes: Partial<ServiceStatus>) => [
    ...ALL.slice(0, 5),
    status('resource', 'b:1', changes),
  ];

  it.each<[string, Partial<ServiceStatus>, string[]]>([
    ['another version', { version: '1.1.0' }, ['versions-differ']],
    ['another issuer', { settings: { ...SETTINGS, BASE_URL: 'https://other.example' } }, ['settings-differ']],
    ['another scopes file', { settings: { ...SETTINGS, SCOPES_FILE: 'sha256 bb' } }, ['settings-differ']],
    ['a setting that other processes do not have', { settings: { ...SETTINGS, PRODUCT_NAME: 'X' } }, []],
    ['NODE_ENV=development', { settings: { ...SETTINGS, NODE_ENV: 'development' } }, ['not-production']],
    ['access tokens that last an hour', { settings: { ...SETTINGS, ACCESS_TOKEN_LIFETIME: 3600 } }, []],
    [
      'access tokens that last longer than an hour',
      { settings: { ...SETTINGS, ACCESS_TOKEN_LIFETIME: 3601 } },
      ['access-token-long'],
    ],
    ['codes that last two minutes', { settings: { ...SETTINGS, CODE_LIFETIME: 120 } }, ['code-long']],
    [
      'a retry window of two minutes',
      { settings: { ...SETTINGS, RETRY_WINDOW: 120 } },
      ['retry-window-long'],
    ],
    ['nothing missing', { missing: {} }, []],
    ['a missing dependency', { missing: { redis: 'ECONNREFUSED' } }, ['process-not-ready']],
    ['a long start', { missing: { start: 'the process starts' } }, ['process-not-ready']],
    [
      'a short start',
      { missing: { start: 'the process starts' }, started_at: '2026-06-01T11:59:00.000Z' },
      [],
    ],
  ])('examines a process with %s', (_, changes, expected) => {
    expect(ids(examineProcesses(withOne(changes), OWN))).toEqual(expected);
  });

  it('compares the processes with this command line, and lists them by value', () => {
    const own = { version: '0.9.0', settings: { BASE_URL: 'http://localhost:3002' } };
    expect(examineProcesses(ALL, own)).toMatchObject([
      {
        check: 'versions-differ',
        problem: expect.stringMatching(/^1\.0\.0 in authorize a:1, .*; 0\.9\.0 in this command line$/),
      },
      {
        check: 'settings-differ',
        subject: 'BASE_URL',
        problem: expect.stringContaining('http://localhost:3002 in this command line'),
      },
    ]);
  });

  it.each([
    ['correct', 0, []],
    ['off by less than the duration of the request', 400, []],
    ['a bit ahead', 2_000, ['clock-drifts']],
    ['ahead', 8_000, ['clock-wrong']],
    ['a bit behind', -2_000, ['clock-drifts']],
    ['behind', -8_000, ['clock-wrong']],
  ])('examines a clock that is %s', (_, ahead, expected) => {
    const reading: ClockReading = {
      place: 'token a:1',
      time: 1_000_000 + ahead,
      askedAt: 1_000_000,
      answeredAt: 1_000_500,
    };
    expect(ids(examineClocks([reading], 5))).toEqual(expected);
  });
});

describe('the redis area of doctor', () => {
  const REDIS = {
    version: '8.0.0',
    maxmemory_policy: 'noeviction',
    appendonly: 'yes',
    aof_last_write_status: 'ok',
    aof_replay: 'yes',
    role: 'master',
    connected_replicas: 1,
  };

  it.each<[string, Partial<typeof REDIS>, string[]]>([
    ['without problems', {}, []],
    ['whose settings are hidden', { maxmemory_policy: 'unknown', appendonly: 'unknown' }, []],
    ['that evicts keys', { maxmemory_policy: 'allkeys-lru' }, ['redis-evicts']],
    ['with one node that evicts keys', { maxmemory_policy: 'noeviction,volatile-lru' }, ['redis-evicts']],
    ['without an append-only file', { appendonly: 'no' }, ['redis-not-persistent']],
    ['with one node without an append-only file', { appendonly: 'yes,no' }, ['redis-not-persistent']],
    ['that cannot write', { aof_last_write_status: 'err' }, ['redis-write-failed']],
    ['that skips commands at a restart', { aof_replay: 'yes,no' }, ['redis-not-replayed']],
    ['whose user may not ask about a restart', { aof_replay: 'unknown' }, []],
    ['that is a replica', { role: 'slave' }, ['redis-no-primary']],
    ['without a replica', { connected_replicas: 0 }, ['redis-no-replica']],
  ])('examines an instance %s', (_, changes, expected) => {
    const findings = examineRedis([{ status: { ...REDIS, ...changes }, seenBy: ['token a:1'] }]);
    expect(ids(findings)).toEqual(expected);
    for (const { subject } of findings) expect(subject).toBe('Redis of token a:1');
  });
});

describe('the audit area of doctor', () => {
  it.each<[string, ServiceStatus['audit'], string[]]>([
    ['without events', { waiting: 0, dropped: 0 }, []],
    ['with one batch of events', { waiting: 500, dropped: 0 }, []],
    ['with many events', { waiting: 5_000, dropped: 0 }, ['audit-waiting']],
    ['that overflowed', { waiting: 0, dropped: 3 }, ['audit-dropped']],
  ])('examines a buffer %s', (_, audit, expected) => {
    expect(ids(examineBuffers([status('token', 'a:1', audit && { audit })]))).toEqual(expected);
  });

  it('checks nothing if no process reports a buffer', () => {
    expect(examineBuffers(ALL)).toMatchObject([
      { reason: expect.any(String) },
      { reason: expect.any(String) },
    ]);
  });
});

describe('the nats area of doctor', () => {
  const stream = (name: string) => ({
    stream: name,
    messages: 10,
    bytes: 100,
    first: new Date('2026-05-01T00:00:00Z'),
    maxAgeDays: 90,
    maxBytes: 1000,
    replicas: 3,
    differing: [],
  });
  const NATS: NatsFacts = {
    place: 'nats.example.com:4222',
    encrypted: true,
    local: false,
    anonymous: false,
    excessive: [],
    shared: false,
    trailChanges: [],
    streams: [stream('A'), stream('B')],
  };

  it.each<[string, Partial<NatsFacts>, string[]]>([
    ['without problems', {}, []],
    ['that accepts anonymous clients', { anonymous: true }, ['nats-anonymous']],
    ['that grants excessive permissions', { excessive: ['read everything'] }, ['nats-permissions']],
    ['that permits deleting the trail', { trailChanges: ['delete its streams'] }, ['audit-deletable']],
    ['whose trail uses the account of the apps', { shared: true }, ['audit-shared-account']],
    ['without TLS', { encrypted: false }, ['nats-unencrypted']],
    ['without TLS on this machine', { encrypted: false, local: true }, []],
    ['without a stream', { streams: [stream('A')] }, ['audit-stream-missing']],
    [
      'without JetStream',
      { streams: null, noStreams: 'not enabled' },
      ['audit-stream-missing', 'audit-stream-missing'],
    ],
    ['with a full stream', { streams: [stream('A'), { ...stream('B'), bytes: 950 }] }, ['audit-stream-full']],
    [
      'with a stream that can be emptied',
      { streams: [{ ...stream('A'), differing: ['deny_purge'] }, stream('B')] },
      ['audit-stream-differs'],
    ],
    [
      'with a stream that has one copy',
      { streams: [stream('A'), { ...stream('B'), replicas: 1 }] },
      ['audit-single-copy'],
    ],
  ])('examines a server %s', (_, changes, expected) => {
    expect(ids(examineNats({ ...NATS, ...changes }, ['A', 'B']))).toEqual(expected);
  });
});

describe('the certificates area of doctor', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z');
  const CERTIFICATE: Certificate = {
    place: 'AUTH_URL auth.example.com:443',
    validFrom: new Date('2026-05-01T00:00:00Z'),
    validTo: new Date('2026-07-30T00:00:00Z'),
    untrusted: null,
    outdated: false,
  };

  it.each<[string, Partial<Certificate>, string[]]>([
    ['without problems', {}, []],
    ['that has expired', { validTo: new Date('2026-05-31T00:00:00Z') }, ['certificate-expired']],
    ['that is not valid yet', { validFrom: new Date('2026-06-02T00:00:00Z') }, ['certificate-expired']],
    [
      'with 20 days left',
      { validTo: new Date('2026-06-21T00:00:00Z'), validFrom: new Date('2026-03-01T00:00:00Z') },
      ['certificate-expires'],
    ],
    [
      'that is valid for six days, with three days left',
      { validFrom: new Date('2026-05-29T00:00:00Z'), validTo: new Date('2026-06-04T00:00:00Z') },
      [],
    ],
    [
      'that is valid for six days, with one day left',
      { validFrom: new Date('2026-05-27T00:00:00Z'), validTo: new Date('2026-06-02T00:00:00Z') },
      ['certificate-expires'],
    ],
    ['that is not trusted', { untrusted: 'self-signed certificate' }, ['certificate-untrusted']],
    ['of a server that supports TLS 1.0', { outdated: true }, ['tls-outdated']],
  ])('examines a certificate %s', (_, changes, expected) => {
    expect(ids(examineCertificate({ ...CERTIFICATE, ...changes }, NOW))).toEqual(expected);
  });
});

describe('the keys area of doctor', () => {
  const NOW = new Date('2026-06-01T00:00:00Z');
  const [PAST, FUTURE] = [new Date('2026-05-01T00:00:00Z'), new Date('2026-08-01T00:00:00Z')];
  const signing = (id: string) => ({ id, role: 'signing' }) as const;
  const verifying = (id: string) => ({ id, role: 'verifying' }) as const;
  const [A, B] = ['aaaaaaaa', 'bbbbbbbb'];
  const record = (id: string, neededUntil: Date | null = FUTURE, firstSeenAt = PAST) => ({
    id,
    ring: 'token' as const,
    firstSeenAt,
    lastSignedAt: neededUntil && PAST,
    neededUntil,
  });
  const both = (authorize: ServiceStatus['keys'], token = authorize) => [
    status('authorize', 'a:1', authorize && { keys: authorize }),
    status('token', 'a:1', token && { keys: token }),
  ];

  it.each<[string, ServiceStatus[], ReturnType<typeof record>[], string[]]>([
    ['one key', both([signing(A)]), [record(A)], []],
    [
      'a next key that has signed nothing',
      both([signing(A), verifying(B)]),
      [record(A), record(B, null)],
      [],
    ],
    ['an older key that is still needed', both([signing(A), verifying(B)]), [record(A), record(B)], []],
    [
      'an older key that is not needed',
      both([signing(A), verifying(B)]),
      [record(A), record(B, PAST)],
      ['key-unneeded'],
    ],
    [
      'a key that one app lacks',
      both([signing(A)], [signing(B), verifying(A)]),
      [record(A), record(B)],
      ['keys-differ', 'key-unknown'],
    ],
    [
      'two signing keys that every app has',
      both([signing(A), verifying(B)], [signing(B), verifying(A)]),
      [record(A), record(B)],
      ['keys-differ'],
    ],
    [
      'a key that tokens need and one app lacks',
      both([signing(A), verifying(B)], [signing(A)]),
      [record(A), record(B)],
      ['key-missing'],
    ],
    ['a removed key that tokens need', both([signing(A)]), [record(A), record(B)], ['key-removed-early']],
    ['a removed key that no token needs', both([signing(A)]), [record(A), record(B, PAST)], []],
    [
      'a key that is two years old',
      both([signing(A)]),
      [record(A, FUTURE, new Date('2024-06-01T00:00:00Z'))],
      ['key-old'],
    ],
  ])('examines %s', (_, statuses, records, expected) => {
    expect(ids(examineKeys(statuses, records, NOW)).sort()).toEqual(expected.sort());
  });

  it('checks nothing if no process reports its keys', () => {
    expect(examineKeys([status('resource', 'a:1')], [], NOW)).toHaveLength(6);
  });
});
