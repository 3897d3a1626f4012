import { examineStreams } from '#diagnosis/event.area.js';

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
