import { type ErrorDetail, OAuthError } from './oauth-error.js';
import { scopeTokens } from './scope.js';

/**
 * RFC 7591 2. Clients of `client_credentials` call only the operators' HTTP API, with keys. They have no redirect URI,
 * secret or scope of users.
 */
export type GrantType = 'authorization_code' | 'client_credentials';

/**
 * For the operators' HTTP API. Users cannot grant them: they are not in the scope catalogue. The
 * table `clients` repeats them.
 */
export const ADMIN_SCOPES = ['admin:read', 'admin:write'] as const;

export function isAdminScope(name: string): boolean {
  return (ADMIN_SCOPES as readonly string[]).includes(name);
}

/** Seconds. Without a refresh token, a client requests a new access token each time (RFC 6749 4.4.3). */
export const CLIENT_TOKEN_LIFETIME = 600;

/** RFC 6749 5.2: "The authenticated client is not authorized to use this authorization grant type." */
export function unauthorizedClient(clientId: string, description: string): OAuthError {
  return new OAuthError('unauthorized_client', 400, description, {
    detail: { check: 'grant_type_unregistered', client_id: clientId },
  });
}

/** Scope of a client's own access token (RFC 6749 4.4.2), space-separated. @throws OAuthError invalid_scope */
export function clientScope(parameter: string | undefined, registered: readonly string[]): string {
  const requested = scopeTokens(parameter ?? '');
  const detail: ErrorDetail = { check: 'scope_unregistered', registered, requested };
  if (!requested.every((token) => registered.includes(token)))
    throw OAuthError.invalidScope(`this client may request: ${registered.join(' ')}`, { detail });
  return (requested.length > 0 ? requested : registered).join(' ');
}
