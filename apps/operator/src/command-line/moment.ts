const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

const AGO = /^(?<count>\d{1,6})(?<unit>[smhdw])$/;
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** The last moment whose year has four digits. */
const LATEST = Date.UTC(10_000, 0) - 1;

/** How an operator writes a moment; for messages and help. */
export const MOMENT =
  'a time ago like 90s, 30m, 1h, 2d or 1w, or a date like 2026-11-22 or 2026-11-22T18:00Z (UTC)';

/** Reads a moment as `MOMENT` describes it. @returns null for any other text */
export function momentOf(text: string, now = Date.now()): Date | null {
  const ago = AGO.exec(text)?.groups;
  const moment = ago
    ? now - Number(ago['count']) * UNITS[ago['unit'] as keyof typeof UNITS] * 1000
    : ISO.test(text)
      ? Date.parse(text)
      : NaN;
  // Nothing of ours is older than 1970, and NATS refuses a year with a sign.
  return Number.isNaN(moment) ? null : new Date(Math.min(Math.max(moment, 0), LATEST));
}
