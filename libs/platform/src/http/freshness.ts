import type { OutsideResponse } from './outside-http.js';

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Lifetime of a response without `max-age` and Expires. */
  readonly byDefault: number;
}

/** Returns the freshness lifetime of a response within bounds, all in milliseconds (RFC 9111 4.2.1). */
export function freshFor({ headers }: OutsideResponse, { min, max, byDefault }: Bounds): number {
  const directives = (headers['cache-control'] ?? '').toLowerCase();
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/.test(directives)) return min;
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,10})/.exec(directives) ?? [];
  if (seconds === undefined && headers.expires === undefined) return byDefault;
  const age = Number(/^\d{1,10}$/.exec(headers.age ?? '')?.[0] ?? 0);
  const lifetime =
    seconds === undefined
      ? // RFC 9111 5.3: an invalid date, such as "0", means that the response has expired.
        Date.parse(headers.expires ?? '') - Date.parse(headers.date ?? '') || 0
      : Number(seconds) * 1000;
  return Math.min(Math.max(lifetime - age * 1000, min), max);
}
