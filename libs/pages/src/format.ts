import { IntlMessageFormat } from 'intl-messageformat';

const formats = new Map<string, IntlMessageFormat>();

/** Inserts values into a text. @param message ICU MessageFormat */
export function phrase(message: string, values: Readonly<Record<string, string | number>>): string {
  let format = formats.get(message);
  if (!format)
    formats.set(message, (format = new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true })));
  return String(format.format(values));
}

const moments = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

/** Adds the time zone UTC to a value of a `datetime-local` field, which browsers send without a zone. */
export function utc(time: string): string {
  return /T\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(time) ? `${time}Z` : time;
}

/** Formats a time in UTC, like the log. */
export function moment(date: Date | string): string {
  return `${moments.format(new Date(date))} UTC`;
}

export function day(date: Date | string): string {
  return days.format(new Date(date));
}

/** Formats a UTC time for a column, like `2026-11-22 18:04:05`. */
export function shortMoment(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}
