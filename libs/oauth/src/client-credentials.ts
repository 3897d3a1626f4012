import { OAuthError } from './oauth-error.js';
import type { ClientReasons } from './reasons.js';
import { availableScope, scopeTokens } from './scope.js';

/**
 * Grant type of a client (RFC 7591 2). A client with `client_credentials` authenticates with keys and calls only the
 * operators' HTTP API. Such a client has no redirect URI, no secret, and no scope that users grant.
 */
export type GrantType = 'authorization_code' | 'client_credentials';

/** Changes roles and invitations of operators: an API client with this scope can make anyone an admin. */
export const OPERATORS_SCOPE = 'admin:operators';

/**
 * Scopes of the operators' HTTP API. Users cannot grant these scopes, which are not in the catalogue. A constraint of
 * the table `clients` repeats the names.
 */
export const ADMIN_SCOPES = ['admin:read', 'admin:write', OPERATORS_SCOPE] as const;

export function isAdminScope(name: string): boolean {
  return (ADMIN_SCOPES as readonly string[]).includes(name);
}

/** Scopes of a client's token for its own event stream (Shared Signals Framework 1.0). Users cannot grant them. */
export const SSF_READ = 'ssf.read';
export const SSF_MANAGE = 'ssf.manage';
export const SSF_SCOPES: readonly string[] = [SSF_READ, SSF_MANAGE];

/** In seconds. Without a refresh token, the client requests a new access token after this time (RFC 6749 4.4.3). */
export const CLIENT_TOKEN_LIFETIME = 600;

/** Error of RFC 6749 5.2: "The authenticated client is not authorized to use this authorization grant type." */
export function unauthorizedClient(
  clientId: string,
  reason: Extract<keyof ClientReasons, `grant_type_unregistered.${string}`>,
): OAuthError {
  return new OAuthError('unauthorized_client', 400, reason, { detail: { client_id: clientId } });
}

/** Returns true for a request of `client_credentials` that names only scopes of event streams. */
export function isEventScope(scope = ''): boolean {
  const names = scopeTokens(scope);
  return names.length > 0 && names.every((name) => SSF_SCOPES.includes(name));
}

/** Returns the scope of a client's own access token (RFC 6749 4.4.2). @throws OAuthError invalid_scope */
export function clientScope(parameter: string | undefined, registered: readonly string[]): string {
  const requested = availableScope(scopeTokens(parameter ?? ''), registered);
  return (requested.length > 0 ? requested : registered).join(' ');
}
