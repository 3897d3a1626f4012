import type { OutsideResponse } from './outside-http.js';

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Without Cache-Control. */
  readonly byDefault: number;
}

/** Returns the freshness lifetime of a response within bounds, all in milliseconds (RFC 9111 5.2.2.1, 5.2.2.4, 5.2.2.5). */
export function freshFor({ headers }: OutsideResponse, { min, max, byDefault }: Bounds): number {
  const directives = (headers['cache-control'] ?? '').toLowerCase();
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/.test(directives)) return min;
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,10})/.exec(directives) ?? [];
  if (seconds === undefined) return byDefault;
  const age = Number(/^\d{1,10}$/.exec(headers.age ?? '')?.[0] ?? 0);
  return Math.min(Math.max((Number(seconds) - age) * 1000, min), max);
}
