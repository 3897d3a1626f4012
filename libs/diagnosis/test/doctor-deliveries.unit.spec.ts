import { type ClientLogouts, examineLogouts, examineStreams } from '#diagnosis/delivery.checks.js';

const NAMES = new Map([['sc_a', 'Room Finder']]);
const FAILING = {
  clientId: 'sc_a',
  status: 'enabled' as const,
  statusReason: null,
  failingSince: new Date('2026-06-01T11:00:00.000Z'),
  dueAt: new Date('2026-06-01T12:00:00.000Z'),
};

describe('the events area of doctor', () => {
  it('warns of a paused stream, with its reason', () => {
    const paused = {
      ...FAILING,
      status: 'paused' as const,
      statusReason: 'the receiver has failed for a day',
    };
    expect(examineStreams([paused], NAMES)).toMatchObject([
      {
        check: 'event-stream-paused',
        subject: 'sc_a "Room Finder"',
        problem: 'its events wait, for a week: the receiver has failed for a day',
        remedy: { id: 'event-stream-paused', values: { clientId: 'sc_a' } },
      },
    ]);
  });

  it('names a failing receiver, with the next attempt', () => {
    expect(examineStreams([FAILING], NAMES)).toMatchObject([
      {
        check: 'event-receiver-failing',
        problem: expect.stringContaining('the next attempt is at 2026-06-01T12:00:00.000Z') as string,
      },
    ]);
  });
});

const CLIENT: ClientLogouts = {
  clientId: 'sc_a',
  name: 'Room Finder',
  refused: 0,
  isPaused: false,
  last: { time: '2026-06-01T11:00:00.000Z', failure: 'status 503' },
};

describe('the logouts area of doctor', () => {
  it('does not report a delayed logout token', () => {
    expect(examineLogouts([CLIENT])).toEqual([]);
  });

  it.each([
    [{ refused: 1 }, /refused 1 logout tokens; .* at 2026-06-01T11:00:00.000Z: status 503$/],
    [{ isPaused: true }, /refused 0 logout tokens, and the delivery is paused; /],
  ])('names the application that caused %j', (failures, problem) => {
    expect(examineLogouts([{ ...CLIENT, ...failures }])).toMatchObject([
      {
        check: 'logout-tokens-failed',
        subject: 'sc_a "Room Finder"',
        problem: expect.stringMatching(problem),
        remedy: { id: 'logout-tokens-failed', values: { clientId: 'sc_a' } },
      },
    ]);
  });
});
