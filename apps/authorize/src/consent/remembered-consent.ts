import type { Client } from '#database/client/client.js';
import type { EarlierDecision } from '#database/client/authorization-context.store.js';
import { scopeTokens } from '#oauth/scope.js';

/** One scope of an authorization request, and what the user thinks of it as far as we know. */
export interface AskedScope {
  readonly scope: string;
  /** Whether the application cannot be let in without it. */
  readonly required: boolean;
  /** What the user decided the last time that it was asked for; null when it never was. */
  readonly earlier: 'allowed' | 'declined' | null;
}

/**
 * What each scope of a request is to the user: of all decisions that stand, the newest in which the application had
 * asked for the scope counts. One in which it had not says nothing of it.
 *
 * @param decisions newest first
 */
export function askedScopes(
  scope: string,
  { optionalScopes }: Pick<Client, 'optionalScopes'>,
  decisions: readonly Pick<EarlierDecision, 'asked' | 'allowed'>[],
): AskedScope[] {
  const known = decisions.map(({ asked, allowed }) => ({
    asked: new Set(scopeTokens(asked)),
    allowed: new Set(scopeTokens(allowed)),
  }));
  return scopeTokens(scope).map((token) => {
    const last = known.find(({ asked }) => asked.has(token));
    const earlier = last && (last.allowed.has(token) ? 'allowed' : 'declined');
    return { scope: token, required: !optionalScopes.includes(token), earlier: earlier ?? null };
  });
}

/** Whether the user has to be asked: never was, or declined what was optional then and no longer is. */
export function isOpen({ required, earlier }: AskedScope): boolean {
  return earlier === null || (required && earlier === 'declined');
}

/**
 * What the application gets without a question, as RFC 6749 3.3 writes a scope.
 *
 * @returns null when there is a question left, or nothing that was allowed
 */
export function allowedBefore(asked: readonly AskedScope[]): string | null {
  if (asked.some(isOpen)) return null;
  const allowed = asked.filter(({ earlier }) => earlier === 'allowed');
  return allowed.length === 0 ? null : allowed.map(({ scope }) => scope).join(' ');
}

/** What an application of the product itself gets: everything, but for what the user declined once. */
export function allowedToFirstParty(asked: readonly AskedScope[]): string | null {
  return allowedBefore(asked.map((one) => (isOpen(one) ? { ...one, earlier: 'allowed' } : one)));
}

/** What the user allows who pressed Allow with these ticked; empty when there is nothing. */
export function chosen(asked: readonly AskedScope[], ticked: (scope: string) => boolean): string {
  return asked
    .filter(({ scope, required }) => required || ticked(scope))
    .map(({ scope }) => scope)
    .join(' ');
}

/** What of the scope that was asked for is not in the one that was allowed. */
export function notIn(allowed: string, asked: string): string[] {
  const given = new Set(scopeTokens(allowed));
  return scopeTokens(asked).filter((token) => !given.has(token));
}
