import type { EarlierDecision } from '#database/client/authorization-context.store.js';
import type { Client } from '#database/client/client.js';
import { scopeTokens } from '#oauth/scope.js';
import type { FormFields } from '../session/csrf.guard.js';

/** One scope of an authorization request, and the user's earlier decision on it. */
export interface RequestedScope {
  readonly scope: string;
  /** Whether the application requires it; if not, the user may decline it. */
  readonly required: boolean;
  /** The user's latest decision; null if the application never requested the scope. */
  readonly decision: 'allowed' | 'declined' | null;
}

/**
 * The scopes of a request with the user's decisions. For each scope the newest decision counts in which the application
 * had requested it.
 *
 * @param decisions newest first
 */
export function requestedScopes(
  scope: string,
  { optionalScopes }: Pick<Client, 'optionalScopes'>,
  decisions: readonly Pick<EarlierDecision, 'asked' | 'allowed'>[],
): RequestedScope[] {
  const earlier = decisions.map(({ asked, allowed }) => ({
    asked: new Set(scopeTokens(asked)),
    allowed: new Set(scopeTokens(allowed)),
  }));
  return scopeTokens(scope).map((token) => {
    const latest = earlier.find(({ asked }) => asked.has(token));
    const decision = latest && (latest.allowed.has(token) ? 'allowed' : 'declined');
    return { scope: token, required: !optionalScopes.includes(token), decision: decision ?? null };
  });
}

/** Whether the user must decide: never did, or declined the scope when it was optional and it is now required. */
export function isUndecided({ required, decision }: RequestedScope): boolean {
  return decision === null || (required && decision === 'declined');
}

/**
 * The scope that the user allowed earlier, as RFC 6749 3.3 writes it: what the application gets without a consent page.
 *
 * @returns null if a scope is undecided, or if none was allowed
 */
export function allowedEarlier(scopes: readonly RequestedScope[]): string | null {
  if (scopes.some(isUndecided)) return null;
  const allowed = scopes.filter(({ decision }) => decision === 'allowed');
  return allowed.length === 0 ? null : joined(allowed);
}

/** The scope for an application of the product itself: everything that the user has not declined. */
export function allowedToFirstParty(scopes: readonly RequestedScope[]): string | null {
  return allowedEarlier(scopes.map((one) => (isUndecided(one) ? { ...one, decision: 'allowed' } : one)));
}

/** What of the requested scope is not in the allowed one. */
export function declinedScopes(allowed: string, requested: string): string[] {
  const given = new Set(scopeTokens(allowed));
  return scopeTokens(requested).filter((token) => !given.has(token));
}

/** Hidden field of the consent form: the scopes that its page listed as required. */
export const REQUIRED_FIELD = 'stated';

/** The field of a scope's checkbox. Each has its own name, because a form repeats no field. */
export function checkboxOf(scope: string): string {
  return `allow:${scope}`;
}

export function requiredScopes(scopes: readonly RequestedScope[]): string {
  return joined(scopes.filter(({ required }) => required));
}

/** Whether the page listed the same required scopes: the user has not agreed to one that became required since. */
export function listedSameRequired(scopes: readonly RequestedScope[], fields: FormFields): boolean {
  return (fields[REQUIRED_FIELD] ?? '') === requiredScopes(scopes);
}

/** The scope that a consent form allows: the required scopes and the ticked ones; empty if there are none. */
export function allowedByForm(scopes: readonly RequestedScope[], fields: FormFields): string {
  return joined(scopes.filter(({ scope, required }) => required || fields[checkboxOf(scope)] === 'yes'));
}

function joined(scopes: readonly RequestedScope[]): string {
  return scopes.map(({ scope }) => scope).join(' ');
}
