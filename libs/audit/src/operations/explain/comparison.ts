import { type ChangeObject, diffChars } from 'diff';
import type { AuditEvent } from '../../event.js';

/** Present in both values, unless `only` is set. */
export interface DifferencePart {
  readonly text: string;
  readonly only?: 'sent' | 'expected';
}

export interface Difference {
  readonly sent: string;
  readonly expected: string;
  readonly parts: readonly DifferencePart[];
}

/** Texts without a common run of this length are shown as a whole. */
const SHARED_CHARACTERS = 3;
/** The time to compare grows with the square of the changes, and an attacker may choose one of the texts. */
const MAX_CHANGES = 250;
/** Maximum number of compared values. An event may contain thousands, because any process may store one. */
const MAX_CANDIDATES = 50;

export function differenceOf(sent: string, expected: string): Difference {
  const parts = partsOf(sent, expected);
  const longest = Math.max(
    ...(parts ?? []).map(({ value, added, removed }) => (added || removed ? 0 : value.length)),
  );
  // Single letters that unrelated texts share are meaningless.
  if (!parts || longest < Math.min(SHARED_CHARACTERS, sent.length, expected.length))
    return { sent, expected, parts: [onlyExpected(expected), onlySent(sent)] };
  return {
    sent,
    expected,
    parts: parts.map(({ value, added, removed }) =>
      added ? onlySent(value) : removed ? onlyExpected(value) : { text: value },
    ),
  };
}

/** Marks a part: `{+only sent+}`, `[-only expected-]`. */
export function marked({ text, only }: DifferencePart): string {
  if (only === undefined) return text;
  return only === 'sent' ? `{+${text}+}` : `[-${text}-]`;
}

export function markedText({ parts }: Difference): string {
  return parts.map(marked).join('');
}

const onlySent = (text: string): DifferencePart => ({ text, only: 'sent' });

const onlyExpected = (text: string): DifferencePart => ({ text, only: 'expected' });

export function closestDifference(sent: string, candidates: readonly string[]): Difference | null {
  const [closest] = candidates
    .slice(0, MAX_CANDIDATES)
    .map((candidate) => ({ candidate, changes: changedCharacters(sent, candidate) }))
    .sort((a, b) => a.changes - b.changes);
  return closest ? differenceOf(sent, closest.candidate) : null;
}

function changedCharacters(sent: string, expected: string): number {
  const parts = partsOf(sent, expected);
  if (!parts) return sent.length + expected.length;
  return parts.reduce((sum, { value, added, removed }) => sum + (added || removed ? value.length : 0), 0);
}

function partsOf(sent: string, expected: string): ChangeObject<string>[] | undefined {
  return diffChars(expected, sent, { maxEditLength: MAX_CHANGES });
}

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
 * Compares rejected scopes or resources with their closest matches. Omits matches without a common run of half their
 * length, like `bookings:read` and `profile:read`, because they are different scopes and not typing errors.
 */
function differentScopes(requested: readonly string[], permitted: readonly string[]): Difference[] {
  return requested
    .filter((scope) => !permitted.includes(scope))
    .slice(0, MAX_SCOPES)
    .map((scope) => closestDifference(scope, permitted))
    .filter((difference) => difference !== null)
    .filter(({ parts, expected }) => {
      const longest = Math.max(...parts.map(({ text, only }) => (only === undefined ? text.length : 0)));
      return longest >= expected.length / 2;
    });
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
