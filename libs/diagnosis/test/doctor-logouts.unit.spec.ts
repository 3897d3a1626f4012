import type { ServiceStatus } from '#platform/status/status-report.js';
import { type ClientLogouts, examineLogouts, DOCTOR_LOGOUT_CHECKS } from '#diagnosis/logout.checks.js';

const NOW = Date.parse('2026-06-01T12:00:00.000Z');
const QUEUE = {
  messages: 0,
  bytes: 0,
  max_bytes: 64 * 1024 * 1024,
  oldest: null as string | null,
  differing: [] as string[],
};
const status = (service: string, changes: Partial<ServiceStatus>): ServiceStatus => ({
  service,
  instance: 'a:1',
  version: '1.0.0',
  started_at: '2026-06-01T00:00:00.000Z',
  time: '2026-06-01T12:00:00.000Z',
  ...changes,
});
const EMPTY = { waiting: 0, dropped: 0 };
const installation = (queue: Partial<typeof QUEUE>, logouts = EMPTY): ServiceStatus[] => [
  status('authorize', { logouts }),
  status('token', { logouts: EMPTY, logout_queue: { ...QUEUE, ...queue } }),
  status('resource', {}),
];
const CLIENT: ClientLogouts = {
  clientId: 'sc_a',
  name: 'Room Finder',
  refused: 0,
  dropped: 0,
  last: { time: '2026-06-01T11:00:00.000Z', failure: 'status 503' },
};
const checksOf = (results: readonly { readonly check: string }[]) => results.map(({ check }) => check);

describe('the logouts area of doctor', () => {
  it.each<[string, ServiceStatus[], ClientLogouts[], string[]]>([
    ['without problems', installation({}), [], []],
    [
      'with a log-out from a minute ago',
      installation({ messages: 1, oldest: '2026-06-01T11:59:00Z' }),
      [],
      [],
    ],
    [
      'with a log-out from an hour ago',
      installation({ messages: 1, oldest: '2026-06-01T11:00:00Z' }),
      [],
      ['logout-queue-late'],
    ],
    ['whose queue has other limits', installation({ differing: ['max_age'] }), [], ['logout-queue-differs']],
    ['whose queue is nearly full', installation({ bytes: 60 * 1024 * 1024 }), [], ['logout-queue-full']],
    ['with a lost event', installation({}, { waiting: 0, dropped: 1 }), [], ['logout-events-lost']],
    ['with a burst of events', installation({}, { waiting: 900, dropped: 0 }), [], []],
    ['with waiting events', installation({}, { waiting: 1_001, dropped: 0 }), [], ['logout-events-waiting']],
    ['with a delayed logout token', installation({}), [CLIENT], []],
    ['with a refused logout token', installation({}), [{ ...CLIENT, refused: 1 }], ['logout-tokens-failed']],
    ['with a dropped logout token', installation({}), [{ ...CLIENT, dropped: 1 }], ['logout-tokens-failed']],
  ])('examines an installation %s', (_, statuses, clients, expected) => {
    expect(checksOf(examineLogouts(statuses, clients, NOW))).toEqual(expected);
  });

  it('checks nothing without OpenID Connect', () => {
    const results = examineLogouts([status('token', {}), status('authorize', {})], [], NOW);
    expect(checksOf(results)).toEqual(Object.keys(DOCTOR_LOGOUT_CHECKS));
    for (const result of results) expect(result).toHaveProperty('reason');
  });

  it('names the token app that cannot read the queue, and uses the report of another token app', () => {
    const broken = status('token', { instance: 'b:1', logout_queue: { problem: 'stream not found' } });
    const statuses = [broken, ...installation({ differing: ['max_age'] })];
    expect(examineLogouts(statuses, [], NOW)).toMatchObject([
      {
        check: 'logout-queue-unreadable',
        subject: 'token b:1',
        problem: expect.stringContaining('stream not found'),
      },
      { check: 'logout-queue-differs' },
    ]);
    expect(checksOf(examineLogouts([broken], [], NOW))).toEqual([
      'logout-queue-unreadable',
      'logout-queue-differs',
      'logout-queue-full',
      'logout-queue-late',
    ]);
  });

  it('names the applications that log-outs wait for, and the application that refused them', () => {
    const statuses = installation({ messages: 3, oldest: '2026-06-01T11:00:00.000Z' });
    expect(examineLogouts(statuses, [{ ...CLIENT, dropped: 2 }], NOW)).toMatchObject([
      {
        check: 'logout-queue-late',
        problem: '3 log-outs wait, the oldest since 2026-06-01T11:00:00.000Z; not accepted by sc_a',
      },
      {
        subject: 'sc_a "Room Finder"',
        problem: expect.stringMatching(/2 were dropped .* at 2026-06-01T11:00:00.000Z: status 503$/),
        remedy: { id: 'logout-tokens-failed', values: { clientId: 'sc_a' } },
      },
    ]);
  });
});
