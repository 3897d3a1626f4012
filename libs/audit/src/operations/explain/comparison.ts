import type { AuditEvent } from '../../event.js';
import { closestDifference, type Difference, differenceOf } from './difference.js';

interface ComparedValue {
  readonly name: string;
  readonly value: string;
}

export interface Comparison {
  readonly values: readonly ComparedValue[];
  /** At most five for rejected scopes or resources; at most one for other checks. */
  readonly differences: readonly Difference[];
}

type Detail = NonNullable<AuditEvent['detail']>;

/** More specific labels than `sent` and `expected`. */
const LABELS: ReadonlyMap<string, readonly [sent: string, expected: string]> = new Map([
  ['redirect_uri_mismatch', ['sent', 'in the authorization request']],
  ['scope_not_granted', ['requested', 'granted']],
  ['resource_exceeded', ['requested', 'granted']],
  ['other_client', ['client of the request', 'client of the token']],
  ['refresh_token_reused', ['generation that was sent', 'current generation']],
  ['wrong_kind', ['kind that was sent', 'kind that is needed']],
  ['console_role_missing', ['role of the operator', 'role that is needed']],
  ['scope_insufficient', ['scope of the token', 'scope that is needed']],
]);

export function comparisonOf({ check = '', detail = {}, time }: AuditEvent): Comparison {
  const {
    sent,
    expected,
    registered,
    requested,
    redirect_uri: redirectUri,
    post_logout_redirect_uri: postLogoutUri,
    expired_at: expiredAt,
    // Recorded for `doctor` with every code exchange; not a compared value.
    pkce: _pkce,
    ...rest
  } = detail;
  const [sentLabel, expectedLabel] = LABELS.get(check) ?? ['sent', 'expected'];
  const values: ComparedValue[] = [
    ...value('sent', redirectUri ?? postLogoutUri),
    ...value('requested', requested),
    ...value('registered', registered),
    ...value(sentLabel, sent),
    ...value(expectedLabel, expected),
    ...expiry(expiredAt, time),
    ...Object.entries(rest).flatMap(([name, content]) => value(name, content)),
  ];
  return { values, differences: differences(check, detail) };
}

function differences(check: string, detail: Detail): Difference[] {
  const { sent, expected, registered, requested } = detail;
  const uri = detail['redirect_uri'] ?? detail['post_logout_redirect_uri'];
  if (/^(?:post_logout_)?redirect_uri_unregistered$/.test(check) && typeof uri === 'string')
    return [closestDifference(uri, textsOf(registered))].filter((difference) => difference !== null);
  if (
    (check === 'redirect_uri_mismatch' || check === 'dpop_htu_mismatch') &&
    typeof sent === 'string' &&
    typeof expected === 'string'
  )
    return [differenceOf(sent, expected)];
  if (check === 'scope_unregistered') return differentScopes(textsOf(requested), textsOf(registered));
  if (check === 'scope_not_granted' || check === 'resource_exceeded')
    return differentScopes(textsOf(sent), textsOf(expected));
  return [];
}

/** Maximum number of compared scopes or resources, because the sender of a request may choose thousands. */
const MAX_SCOPES = 5;

/**
 * Compares rejected scopes or resources with their closest matches. Omits matches that have nothing in common.
 */
function differentScopes(requested: readonly string[], permitted: readonly string[]): Difference[] {
  return requested
    .filter((scope) => !permitted.includes(scope))
    .slice(0, MAX_SCOPES)
    .map((scope) => closestDifference(scope, permitted))
    .filter((difference) => difference !== null)
    .filter(({ parts }) => parts.some(({ only }) => only === undefined));
}

export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split(' ').filter((text) => text !== '');
  return Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : [];
}

function value(name: string, value: unknown): ComparedValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.length === 0) return [{ name, value: 'none' }];
  if (Array.isArray(value)) return value.map((item) => ({ name, value: valueText(item) }));
  return [{ name, value: valueText(value) }];
}

export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function expiry(expiredAt: unknown, time: string): ComparedValue[] {
  if (typeof expiredAt !== 'string') return [];
  const seconds = Math.round((Date.parse(time) - Date.parse(expiredAt)) / 1000);
  return [
    { name: 'expired', value: expiredAt },
    { name: 'clock of the service', value: `${time}, ${duration(seconds)} later` },
  ];
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${seconds} s`;
  return minutes < 120
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
