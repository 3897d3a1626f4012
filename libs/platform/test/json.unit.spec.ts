import { isDeeperThan } from '#platform/json.js';

describe('isDeeperThan', () => {
  it.each([
    ['text', 0, false],
    [null, 0, false],
    [{}, 0, true],
    [[], 0, true],
    [{ member: [1] }, 2, false],
    [{ member: [[1]] }, 2, true],
    [[1, { member: {} }], 2, true],
  ])('counts each object and array as a level: %j with the limit %i', (value, levels, expected) => {
    expect(isDeeperThan(levels, value)).toBe(expected);
  });

  it('handles 5,000 levels without a stack overflow', () => {
    const depth = 5_000;
    expect(isDeeperThan(32, JSON.parse('['.repeat(depth) + ']'.repeat(depth)))).toBe(true);
  });
});
