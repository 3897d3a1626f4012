import { ENDPOINTS } from '#oauth/endpoints.js';
import type { OAuthErrorCode } from '#oauth/reasons.js';
import { API_CHECKS } from './api-checks.js';
import { ASSERTION_CHECKS } from './assertion-checks.js';
import { AUTHORIZATION_CHECKS } from './authorization-checks.js';
import { CLIENT_CHECKS } from './client-checks.js';
import { CONSOLE_API_CHECKS } from './console-api-checks.js';
import { DEVICE_CHECKS } from './device-checks.js';
import { DPOP_CHECKS } from './dpop-checks.js';
import { ERROR_CODES } from './error-codes.js';
import { EVENT_CHECKS } from './event-checks.js';
import { GRANT_CHECKS } from './grant-checks.js';
import { type CheckEntries, type ErrorCodeEntry, type GuideEntry, guideEntryOf } from './guide-entry.js';
import { LOGOUT_CHECKS } from './logout-checks.js';
import { PAGE_CHECKS } from './page-checks.js';
import { REQUEST_CHECKS } from './request-checks.js';
import { SERVICE_CHECKS } from './service-checks.js';

export const SECTIONS = {
  'Error codes': ERROR_CODES,
  'Every request': REQUEST_CHECKS,
  'Client authentication': CLIENT_CHECKS,
  'Client assertions': ASSERTION_CHECKS,
  'Authorization requests': AUTHORIZATION_CHECKS,
  'Codes and tokens': GRANT_CHECKS,
  Devices: DEVICE_CHECKS,
  'DPoP proofs': DPOP_CHECKS,
  'Calls of an API': API_CHECKS,
  'HTTP API of the console': CONSOLE_API_CHECKS,
  'Logout tokens': LOGOUT_CHECKS,
  Events: EVENT_CHECKS,
  'Pages for users': PAGE_CHECKS,
  'The service itself': SERVICE_CHECKS,
} as const satisfies Readonly<Record<string, CheckEntries | Readonly<Record<string, ErrorCodeEntry>>>>;

type Section<Entries> = Entries extends unknown ? keyof Entries : never;

/** Check named by an error or a log line, or an entry published instead of other checks. */
export type Check = Exclude<Section<(typeof SECTIONS)[keyof typeof SECTIONS]>, OAuthErrorCode>;

export interface GuideSection {
  readonly title: string;
  readonly entries: readonly (GuideEntry & { readonly anchor: string })[];
}

const ALL: readonly GuideSection[] = Object.entries(SECTIONS).map(([title, entries]) => ({
  title,
  entries: Object.entries(entries).map(([name, entry]) => ({ anchor: name, ...guideEntryOf(name, entry) })),
}));

const ENTRIES: ReadonlyMap<string, GuideEntry> = new Map(
  ALL.flatMap(({ entries }) => entries.map((entry) => [entry.anchor, entry] as const)),
);

/** Names of all checks, for the operator. */
export const CHECK_NAMES: readonly string[] = [...ENTRIES.keys()].sort();

/** Public entries. Excludes entries that would distinguish checks that a response must not distinguish. */
export const ERROR_GUIDE: readonly GuideSection[] = ALL.map(({ title, entries }) => ({
  title,
  entries: entries.filter(({ publishedAs }) => publishedAs === undefined),
})).filter(({ entries }) => entries.length > 0);

/** Returns the exact entry, for the operator; null if the guide has no entry. */
export function guideEntry(check: string | undefined, error: string | undefined): GuideEntry | null {
  return ENTRIES.get(nameOf(check, error)) ?? null;
}

/**
 * `error_uri` (RFC 6749 4.1.2.1 and 5.2): a link that reveals only what the description reveals.
 * @param baseUrl public URL of the token app
 */
export function errorUri(baseUrl: string, check: unknown, error: OAuthErrorCode): string {
  const name = nameOf(check, error);
  return `${baseUrl}${ENDPOINTS.errors}#${ENTRIES.get(name)?.publishedAs ?? name}`;
}

function nameOf(check: unknown, error: string | undefined): string {
  return typeof check === 'string' && ENTRIES.has(check) ? check : (error ?? '');
}
