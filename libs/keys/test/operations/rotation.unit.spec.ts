import { randomBytes } from 'node:crypto';
import type { RecordedKey } from '#keys/token-key.store.js';
import { KeyRing } from '#keys/key-ring.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { keyReport } from '#keys/operations/key-report.js';
import { nextStep, UnsafeStepError } from '#keys/operations/rotation.js';
import { described } from './support/described.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const [PAST, FUTURE] = [new Date('2026-11-22T11:59:59Z'), new Date('2027-02-20T12:00:00Z')];
const [OLD, CURRENT, NEW] = Array.from({ length: 3 }, () => randomBytes(32).toString('base64url')) as [
  string,
  string,
  string,
];
const idOf = (key: string): string => KeyRing.parse(key).keys[0]?.id ?? '';

const ringOf = (...keys: string[]): string => keys.join(',');

const processOf = (service: string, tokenKeys: string, instance = 'host:1'): ServiceStatus => ({
  service,
  instance,
  version: '0.1.0',
  started_at: NOW.toISOString(),
  time: NOW.toISOString(),
  keys: KeyRing.parse(tokenKeys).keys,
});
const everywhere = (tokenKeys: string): ServiceStatus[] => [
  processOf('authorize', tokenKeys),
  processOf('token', tokenKeys),
  processOf('token', tokenKeys, 'host:2'),
];

const recorded = (key: string, neededUntil: Date | null): RecordedKey => ({
  id: idOf(key),
  ring: 'token',
  firstSeenAt: PAST,
  lastSignedAt: neededUntil && PAST,
  neededUntil,
});

function next(
  tokenKeys: string,
  records: readonly RecordedKey[],
  { statuses = everywhere(tokenKeys), begin = false } = {},
) {
  try {
    return nextStep({ tokenKeys, begin, statuses, records, now: NOW, newKey: () => NEW });
  } catch (error) {
    throw described(error);
  }
}

describe('the next step of a rotation', () => {
  it('appends a new key to a ring with one key', () => {
    expect(next(CURRENT, [recorded(CURRENT, FUTURE)])).toEqual({
      step: 1,
      action: 'add',
      keys: [idOf(NEW)],
      tokenKeys: ringOf(CURRENT, NEW),
    });
  });

  it('signs with an unused key at any position in the ring', () => {
    const ring = ringOf(CURRENT, NEW, OLD);
    const records = [recorded(CURRENT, FUTURE), recorded(NEW, null), recorded(OLD, FUTURE)];
    expect(next(ring, records)).toEqual({
      step: 2,
      action: 'sign',
      keys: [idOf(NEW)],
      tokenKeys: ringOf(NEW, CURRENT, OLD),
    });
  });

  it('removes only the older keys that no live token needs', () => {
    const ring = ringOf(NEW, CURRENT, OLD);
    const records = [recorded(NEW, FUTURE), recorded(CURRENT, FUTURE), recorded(OLD, PAST)];
    expect(next(ring, records)).toEqual({
      step: 3,
      action: 'remove',
      keys: [idOf(OLD)],
      tokenKeys: ringOf(NEW, CURRENT),
    });
  });

  it('is refused with the time to wait while live tokens may need the older key', () => {
    const records = [recorded(NEW, FUTURE), recorded(CURRENT, FUTURE)];
    expect(() => next(ringOf(NEW, CURRENT), records)).toThrow(
      new RegExp(`${idOf(CURRENT)} until 2027-02-20T12:00:00.000Z`),
    );
  });

  it('begins another rotation early only with `begin`', () => {
    const records = [recorded(CURRENT, FUTURE), recorded(OLD, FUTURE)];
    const step = next(ringOf(CURRENT, OLD), records, { begin: true });
    expect(step).toMatchObject({ step: 1, tokenKeys: ringOf(CURRENT, OLD, NEW) });
  });

  const records = [recorded(CURRENT, FUTURE), recorded(NEW, null)];
  const ring = ringOf(CURRENT, NEW);
  it.each([
    [
      'one process does not have the ring yet',
      [...everywhere(ring), processOf('token', CURRENT, 'host:9')],
      /token host:9 still/,
    ],
    [
      'one process has the keys in another order',
      [...everywhere(ring), processOf('token', ringOf(NEW, CURRENT), 'host:9')],
      /token host:9 still/,
    ],
    ['no process has the value', everywhere(CURRENT), /no running process has this value/],
    ['no authorize app answers', [processOf('token', ring)], /no process of authorize answers/],
    ['no token app answers', [processOf('authorize', ring)], /no process of token answers/],
    ['nothing answers', [], /no process of authorize answers/],
  ])('is refused while %s', (_, statuses, reason) => {
    expect(() => next(ring, records, { statuses })).toThrow(UnsafeStepError);
    expect(() => next(ring, records, { statuses })).toThrow(reason);
  });

  it('is refused for an unrecorded key, which may have signed', () => {
    expect(() => next(ring, [recorded(CURRENT, FUTURE)])).toThrow(/no process has recorded key/);
  });
});

describe('the key report', () => {
  const problems = (statuses: ServiceStatus[], ...known: RecordedKey[]) =>
    keyReport(statuses, known, NOW).problems.map(({ id, severity }) => [id, severity]);

  it('has no problems if every process has the same ring with every needed key', () => {
    const known = [recorded(CURRENT, FUTURE), recorded(OLD, FUTURE), recorded(NEW, PAST)];
    expect(problems(everywhere(ringOf(CURRENT, OLD)), ...known)).toEqual([]);
  });

  it.each([
    [
      'a signing key that another process lacks',
      [CURRENT, NEW],
      [
        ['signing_keys_differ', 'warning'],
        ['signing_key_unknown', 'error'],
        ['signing_key_unknown', 'error'],
      ],
    ],
    [
      'a rollout in progress, with a warning',
      [ringOf(CURRENT, NEW), ringOf(NEW, CURRENT)],
      [['signing_keys_differ', 'warning']],
    ],
    [
      'a key that not every process has, with a warning',
      [CURRENT, ringOf(CURRENT, NEW)],
      [['verifying_keys_differ', 'warning']],
    ],
    [
      'a needed key that one process lacks',
      [CURRENT, ringOf(CURRENT, OLD)],
      [['key_removed_early', 'error']],
    ],
    [
      'a needed key that every process lacks, with a warning',
      [CURRENT, CURRENT],
      [['key_removed_early', 'warning']],
    ],
  ])('reports %s', (_, [authorize = '', token = ''], expected) => {
    const isRemoved = expected.some(([id]) => id === 'key_removed_early');
    const statuses = [processOf('authorize', authorize), processOf('token', token)];
    const reported = problems(statuses, ...(isRemoved ? [recorded(OLD, FUTURE)] : []));
    expect(reported).toHaveLength(expected.length);
    expect(reported).toEqual(expect.arrayContaining(expected));
  });

  it('reports an app without a process that answers', () => {
    expect(problems([processOf('authorize', CURRENT)])).toEqual([['no_process', 'error']]);
  });
});
