import { OAuthError } from './oauth-error.js';

/**
 * The scopes that an application can request, each with its English description. To add one, also add the message
 * `scope.<name>` to apps/authorize/src/ui/i18n/consent.messages.ts, and a row to docs/api.md.
 */
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

/** The scope of a client that registers for none, and of a request that names none. */
export const DEFAULT_SCOPE = 'profile:read';

/**
 * The scope tokens of a list, each once, in its order, whether they exist or not. RFC 6749 3.3 separates them by single
 * spaces. Known deviation: commas separate them as well, because several client libraries write them.
 */
export function scopeTokens(list: string): string[] {
  return [...new Set(list.split(/[ ,]+/).filter((token) => token !== ''))];
}

/** RFC 6749 3.3 `scope-token`. */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/**
 * The scope of a refresh request. RFC 6749 6: "The requested scope MUST NOT include any scope not originally granted by
 * the resource owner, and if omitted is treated as equal to the scope originally granted". The client's registration does
 * not count here: it limits what the client can request from users, and does not take back what they granted.
 *
 * @returns space-separated scope tokens, or null for everything that was granted
 * @throws OAuthError invalid_scope for a malformed list; the grant engine decides whether it was granted
 */
export function refreshScope(parameter: string | undefined): string | null {
  if (parameter === undefined) return null;
  const tokens = scopeTokens(parameter);
  if (!tokens.every((token) => SCOPE_TOKEN.test(token)))
    throw OAuthError.invalidScope("the parameter 'scope' must be scope tokens separated by spaces", {
      detail: { check: 'scope syntax' },
    });
  return tokens.length === 0 ? null : tokens.join(' ');
}
