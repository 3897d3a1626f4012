import type { EarlierDecision } from '#clients/authorization-context.store.js';
import type { Client } from '#clients/client.js';
import type { AuthorizationRequest } from '#oauth/authorization-request.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import { scopeTokens } from '#oauth/scope.js';
import type { RequestedScope, ValidatedRequest } from '../validated-request.js';
import type { FormFields } from '../session/csrf.guard.js';

export type Interaction =
  | { readonly page: 'login' }
  | { readonly page: 'consent' }
  /** No page is needed: the application gets this scope. */
  | { readonly page: null; readonly scope: string };

/**
 * Limit per user and client. Each response without a page stores a row for the lifetime of a refresh token, and any
 * site can send a browser here. Concurrent requests may exceed the limit. AuthorizationContextStore counts at most 100
 * grants.
 */
const MAX_GRANTS_A_DAY = 100;

const LOGIN = { page: 'login' } as const;
const CONSENT = { page: 'consent' } as const;

export function requiredInteraction(request: ValidatedRequest, isLoginForRequest: boolean): Interaction {
  const { user, client, prompt, loginTooOld, isOtherUser, scopes, grantsOfDay } = request;
  if (!user || ((prompt.has('login') || loginTooOld || isOtherUser) && !isLoginForRequest)) return LOGIN;
  // On the consent page, the user can switch to another account.
  if (prompt.has('consent') || prompt.has('select_account')) return CONSENT;
  if (!isClientAssured(request) || grantsOfDay >= MAX_GRANTS_A_DAY) return CONSENT;
  const scope = client.firstParty ? grantedToFirstParty(scopes) : grantedEarlier(scopes);
  return scope === null ? CONSENT : { page: null, scope };
}

/**
 * RFC 8252 8.6 forbids automatic processing "except when the identity of the client can be assured". Any application
 * on a device can use the client_id of a public client with a loopback or private-use URI, but not with an https URI.
 */
function isClientAssured({ client, redirectUri }: ValidatedRequest): boolean {
  if (client.type === 'confidential') return true;
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' && !isLoopback(hostname);
}

/**
 * The newest decision on each scope counts. A granted scope counts only if it was granted for every requested API; a
 * declined scope always counts.
 * @param decisions newest first
 */
export function requestedScopes(
  { scope, resources }: Pick<AuthorizationRequest, 'scope' | 'resources'>,
  { optionalScopes }: Pick<Client, 'optionalScopes'>,
  decisions: readonly Pick<EarlierDecision, 'requested' | 'granted' | 'resources'>[],
): RequestedScope[] {
  const earlier = decisions.map(({ requested, granted, resources: decided }) => ({
    requested: new Set(scopeTokens(requested)),
    granted: new Set(scopeTokens(granted)),
    isForAll: coversApis(decided, resources),
  }));
  return scopeTokens(scope).map((token) => {
    const latest = earlier.find(
      ({ requested, granted, isForAll }) => requested.has(token) && (isForAll || !granted.has(token)),
    );
    const decision = latest && (latest.granted.has(token) ? 'granted' : 'declined');
    return { scope: token, required: !optionalScopes.includes(token), decision: decision ?? null };
  });
}

/** Returns true if the decision covers every requested API; null means all APIs. */
function coversApis(decided: string | null, requested: string | null): boolean {
  if (decided === null || requested === null) return decided === null;
  const known = new Set(decided.split(' '));
  return requested.split(' ').every((api) => known.has(api));
}

/** Returns true for a scope without a decision, and for a declined scope that is now required. */
export function isUndecided({ required, decision }: RequestedScope): boolean {
  return decision === null || (required && decision === 'declined');
}

/** @returns null if a scope is undecided or none was granted */
export function grantedEarlier(scopes: readonly RequestedScope[]): string | null {
  if (scopes.some(isUndecided)) return null;
  const granted = scopes.filter(({ decision }) => decision === 'granted');
  return granted.length === 0 ? null : joined(granted);
}

/** A first-party application gets every scope except the optional scopes that the user declined. */
export function grantedToFirstParty(scopes: readonly RequestedScope[]): string | null {
  return grantedEarlier(
    scopes.map((scope) => (isUndecided(scope) ? { ...scope, decision: 'granted' } : scope)),
  );
}

export function declinedScopes(granted: string, requested: string): string[] {
  const kept = new Set(scopeTokens(granted));
  return scopeTokens(requested).filter((token) => !kept.has(token));
}

export const REQUIRED_SCOPES_FIELD = 'required_scopes';

/** Name of a scope's field. Each scope has a separate field, because forms must not repeat fields. */
export function checkboxOf(scope: string): string {
  return `allow:${scope}`;
}

export function requiredScopes(scopes: readonly RequestedScope[]): string {
  return joined(scopes.filter(({ required }) => required));
}

type Decision =
  | { readonly kind: 'denied'; readonly scope: string }
  | { readonly kind: 'allowed'; readonly scope: string }
  /** The page must be shown again: no scope was selected, or the required scopes have changed since it was sent. */
  | { readonly kind: 'undecided'; readonly nothingChosen: boolean };

/** Reads the form of the consent page. @throws OAuthError invalid_request */
export function readDecision(
  { scopes, client: { clientId } }: Pick<ValidatedRequest, 'scopes' | 'client'>,
  fields: FormFields,
): Decision {
  const { decision } = fields;
  const scope = grantedByForm(scopes, fields);
  if (decision === 'deny') return { kind: 'denied', scope };
  if (decision !== 'allow')
    throw OAuthError.invalidRequest('decision_missing', { detail: { client_id: clientId } });
  const isOutdated = (fields[REQUIRED_SCOPES_FIELD] ?? '') !== requiredScopes(scopes);
  if (scope === '' || isOutdated) return { kind: 'undecided', nothingChosen: scope === '' };
  return { kind: 'allowed', scope };
}

export function grantedByForm(scopes: readonly RequestedScope[], fields: FormFields): string {
  return joined(scopes.filter(({ scope, required }) => required || fields[checkboxOf(scope)] === 'yes'));
}

/** Returns the optional scopes whose boxes are cleared in the form. */
export function clearedByForm(scopes: readonly RequestedScope[], fields: FormFields): string[] {
  const cleared = scopes.filter(({ scope, required }) => !required && fields[checkboxOf(scope)] !== 'yes');
  return cleared.map(({ scope }) => scope);
}

function joined(scopes: readonly RequestedScope[]): string {
  return scopes.map(({ scope }) => scope).join(' ');
}
