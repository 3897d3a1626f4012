import { IntlMessageFormat } from 'intl-messageformat';

const formats = new Map<string, IntlMessageFormat>();

/**
 * Returns a text of a page. Every text passes here, so that it can be translated; the English one is its name.
 *
 * @param values for placeholders such as `{count, plural, one {# secret} other {# secrets}}`
 */
export function t(message: string, values: Readonly<Record<string, string | number>> = {}): string {
  let format = formats.get(message);
  if (!format)
    formats.set(message, (format = new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true })));
  return String(format.format(values));
}

const moments = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

/** In UTC, like the log. */
export function moment(date: Date | string): string {
  return `${moments.format(new Date(date))} UTC`;
}

export function day(date: Date | string): string {
  return days.format(new Date(date));
}

/** In UTC, for columns: `2026-11-22 18:04:05`. */
export function shortMoment(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}
