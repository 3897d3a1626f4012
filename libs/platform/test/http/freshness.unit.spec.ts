import { freshFor } from '#platform/http/freshness.js';

const BOUNDS = { min: 1_000, max: 100_000, byDefault: 10_000 };
const DATE = 'Wed, 25 Nov 2026 12:00:00 GMT';
const later = (seconds: number) => new Date(Date.parse(DATE) + seconds * 1000).toUTCString();
const lifetime = (headers: Record<string, string>) =>
  freshFor({ status: 200, headers, body: Buffer.alloc(0) }, BOUNDS);

// @client metadata document 5.2
describe('the freshness lifetime of a response', () => {
  it.each<[string, number, Record<string, string>]>([
    ['is the default without headers', 10_000, {}],
    ['is max-age minus Age', 20_000, { 'cache-control': 'public, max-age=30', age: '10' }],
    ['is the time until Expires', 40_000, { date: DATE, expires: later(40) }],
    [
      'is max-age rather than Expires',
      30_000,
      { 'cache-control': 'max-age=30', date: DATE, expires: later(40) },
    ],
    ['is the minimum if Expires is not a date', 1_000, { date: DATE, expires: '0' }],
    ['is the minimum if Expires has passed', 1_000, { date: DATE, expires: later(-40) }],
    ['is the minimum without a Date to compare', 1_000, { expires: later(40) }],
    ['is the minimum if it must not be stored', 1_000, { 'cache-control': 'no-store, max-age=30' }],
    ['is at most the maximum', 100_000, { date: DATE, expires: later(1_000) }],
  ])('%s', (_what, milliseconds, headers) => {
    expect(lifetime(headers)).toBe(milliseconds);
  });
});
