import type { EarlierDecision } from '#database/client/authorization-context.store.js';
import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import type { AuthorizationRequest } from '#oauth/authorization-request.js';
import { scopeTokens } from '#oauth/scope.js';
import type { FormFields } from '../session/csrf.guard.js';

/** An authorization request that passed every check, with its user. */
export interface ValidatedRequest extends AuthorizationRequest {
  readonly client: Client;
  /** The id of the pushed request (RFC 9126); null if the parameters came in the query. */
  readonly pushedId: string | null;
  /** The logged-in user; null if nobody is logged in, or the session is no longer valid. */
  readonly user: User | null;
  /** Whether the user authenticated longer ago than the request allows (`max_age`). */
  readonly loginTooOld: boolean;
  readonly scopes: readonly RequestedScope[];
  /** How many grants the user gave the client in the last 24 hours. */
  readonly grantsOfDay: number;
}

/** The page that the user must answer before the request can be answered. */
export type Interaction =
  | { readonly page: 'login' }
  | { readonly page: 'consent' }
  /** None: the application gets this scope. */
  | { readonly page: null; readonly scope: string };

/**
 * Grants of one user to one application in a day, above which the user is asked again. Every answer without a page stores
 * a row for the lifetime of a refresh token, and any site can send a browser here as often as it likes. Simultaneous
 * requests may exceed it by a few: it bounds storage and protects nothing else. At most 100, because AuthorizationContext
 * may count no further.
 */
const MAX_GRANTS_A_DAY = 100;

const LOGIN = { page: 'login' } as const;
const CONSENT = { page: 'consent' } as const;

/**
 * Decides which page a request needs.
 *
 * @param loggedInForIt whether the user logged in for this request
 */
export function requiredInteraction(request: ValidatedRequest, loggedInForIt: boolean): Interaction {
  const { user, client, prompt, loginTooOld, scopes, grantsOfDay } = request;
  if (!user || ((prompt.has('login') || loginTooOld) && !loggedInForIt)) return LOGIN;
  // The consent page shows the account, and can change it.
  if (prompt.has('consent') || prompt.has('select_account')) return CONSENT;
  if (!isClientAssured(request) || grantsOfDay >= MAX_GRANTS_A_DAY) return CONSENT;
  const scope = client.firstParty ? allowedToFirstParty(scopes) : allowedEarlier(scopes);
  return scope === null ? CONSENT : { page: null, scope };
}

/**
 * RFC 8252 8.6: requests are not processed "automatically without user consent or interaction, except when the identity
 * of the client can be assured". Any application on a device can use a public client's client_id with its loopback address
 * or private-use scheme, also those of a first-party client. It cannot use its https address or its secret.
 */
function isClientAssured({ client, redirectUri }: ValidatedRequest): boolean {
  if (client.type === 'confidential') return true;
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' && !isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

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
 * had requested it. What the user allowed counts only if it was for every API of the request; what the user declined, for
 * any API.
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
    isForAll: isFor(decided, resources),
  }));
  return scopeTokens(scope).map((token) => {
    const latest = earlier.find(
      ({ asked, allowed, isForAll }) => asked.has(token) && (isForAll || !allowed.has(token)),
    );
    const decision = latest && (latest.allowed.has(token) ? 'allowed' : 'declined');
    return { scope: token, required: !optionalScopes.includes(token), decision: decision ?? null };
  });
}

/** Whether a decision for some APIs was for all of these; null is every API. */
function isFor(decided: string | null, these: string | null): boolean {
  if (decided === null || these === null) return decided === null;
  const known = new Set(decided.split(' '));
  return these.split(' ').every((api) => known.has(api));
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
