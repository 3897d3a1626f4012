import { utc } from '#pages/format.js';

describe('utc', () => {
  it.each([
    ['2026-11-22T18:04', '2026-11-22T18:04Z'],
    ['2026-11-22T18:04:05', '2026-11-22T18:04:05Z'],
    ['2026-11-22T18:04:05.123', '2026-11-22T18:04:05.123Z'],
  ])('adds the zone to the time of a datetime-local field: %s', (time, expected) => {
    expect(utc(time)).toBe(expected);
  });

  it.each(['2026-11-22T18:04Z', '2026-11-22T18:04+01:00', '2026-11-22', '23h', 'yesterday', ''])(
    'does not change any other text: "%s"',
    (text) => {
      expect(utc(text)).toBe(text);
    },
  );
});
