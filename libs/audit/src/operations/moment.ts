const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

const AGO = /^(?<count>\d{1,6})(?<unit>[smhdw])$/;
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

const LATEST = Date.UTC(10_000, 0) - 1;

export const MOMENT =
  'a time ago like 90s, 30m, 1h, 2d or 1w, or a date like 2026-11-22 or 2026-11-22T18:00Z (UTC)';

/** @returns null if the text does not match `MOMENT` */
export function parseTime(text: string, now = Date.now()): Date | null {
  const ago = AGO.exec(text)?.groups;
  const moment = ago
    ? now - Number(ago['count']) * UNITS[ago['unit'] as keyof typeof UNITS] * 1000
    : ISO.test(text)
      ? Date.parse(text)
      : NaN;
  // Clamps to the years 1970–9999: NATS rejects years with a sign.
  return Number.isNaN(moment) ? null : new Date(Math.min(Math.max(moment, 0), LATEST));
}
