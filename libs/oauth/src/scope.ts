/** What an application can ask for, each with what the consent page says of it. */
export const SCOPES: ReadonlyMap<string, string> = new Map([
  [
    'profile:read',
    'See your profile: your name, user name, e-mail address, picture, time zone and calendar preferences',
  ],
  ['schedules:read', 'See your schedules: when you can be booked'],
  ['schedules:write', 'Change your schedules: add, edit and delete the times when you can be booked'],
  ['bookings:read', 'See your bookings: when, with whom and what about'],
  ['bookings:write', 'Make, move and cancel bookings in your name'],
]);

/** What a client may ask for, and asks for, when nothing else is said. */
export const DEFAULT_SCOPE = 'profile:read';

/**
 * The scope tokens of a list, each once, in its order; the list says nothing of whether they exist. RFC 6749 3.3
 * separates them by single spaces. Known deviation: commas separate as well, as several client libraries write them.
 */
export function scopeTokens(list: string): string[] {
  return [...new Set(list.split(/[ ,]+/).filter((token) => token !== ''))];
}
