const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What `readMoment` takes, for help and errors. */
export const MOMENT = 'a duration before now like 30m, 1h or 7d, or a time like 2026-11-22T18:00:00Z';

/** A moment that an operator wrote: see MOMENT. @returns null for anything else */
export function readMoment(text: string, now = Date.now()): Date | null {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (UNITS[unit] ?? 0));
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time);
}
