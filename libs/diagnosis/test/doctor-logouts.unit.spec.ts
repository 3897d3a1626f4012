import { type ClientLogouts, examineLogouts } from '#diagnosis/logout.checks.js';

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
