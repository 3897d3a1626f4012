import type { EarlierDecision } from '#database/client/authorization-context.store.js';
import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import type { AuthorizationRequest } from '#oauth/authorization-request.js';
import { scopeTokens } from '#oauth/scope.js';

export interface ValidatedRequest extends AuthorizationRequest {
  readonly client: Client;
  readonly pushedId: string | null;
  /** Null if no user is logged in, or the session is no longer valid. */
  readonly user: User | null;
  /** The user authenticated longer ago than `max_age`. */
  readonly loginTooOld: boolean;
  readonly scopes: readonly RequestedScope[];
  /** Grants of the user to the client in the last 24 hours. */
  readonly grantsOfDay: number;
}

export interface RequestedScope {
  readonly scope: string;
  readonly required: boolean;
  /** The latest decision; null if the scope was never requested. */
  readonly decision: 'allowed' | 'declined' | null;
}

/**
 * For each scope, the newest decision counts in which it was requested. A granted scope counts only if the grant was for every
 * API of the request; a declined scope counts for any API.
 *
 * @param decisions newest first
 */
export function requestedScopes(
  { scope, resources }: Pick<AuthorizationRequest, 'scope' | 'resources'>,
  { optionalScopes }: Pick<Client, 'optionalScopes'>,
  decisions: readonly Pick<EarlierDecision, 'asked' | 'allowed' | 'resources'>[],
): RequestedScope[] {
  const earlier = decisions.map(({ asked, allowed, resources: decided }) => ({
    asked: new Set(scopeTokens(asked)),
    allowed: new Set(scopeTokens(allowed)),
    isForAll: coversApis(decided, resources),
  }));
  return scopeTokens(scope).map((token) => {
    const latest = earlier.find(
      ({ asked, allowed, isForAll }) => asked.has(token) && (isForAll || !allowed.has(token)),
    );
    const decision = latest && (latest.allowed.has(token) ? 'allowed' : 'declined');
    return { scope: token, required: !optionalScopes.includes(token), decision: decision ?? null };
  });
}

/** Compares lists of APIs; null means every API. */
function coversApis(decided: string | null, requested: string | null): boolean {
  if (decided === null || requested === null) return decided === null;
  const known = new Set(decided.split(' '));
  return requested.split(' ').every((api) => known.has(api));
}
