import { parseTime } from '#audit/operations/moment.js';

const AT = Date.parse('2026-11-22T18:00:00.000Z');

describe('parseTime', () => {
  it.each([
    ['90s', '2026-11-22T17:58:30.000Z'],
    ['1h', '2026-11-22T17:00:00.000Z'],
    ['2d', '2026-11-20T18:00:00.000Z'],
    ['1w', '2026-11-15T18:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    // NATS rejects a year with a sign, which also breaks the comparison of times as text.
    ['999999w', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59-12:00', '9999-12-31T23:59:59.999Z'],
  ])('reads %s as %s', (text, moment) => {
    expect(parseTime(text, AT)?.toISOString()).toBe(moment);
  });

  it.each(['', '1', 'h', '-1h', '1y', 'yesterday', '2026-13-01', '2026-11-20T10:00'])(
    'rejects %j',
    (text) => {
      expect(parseTime(text, AT)).toBeNull();
    },
  );
});
