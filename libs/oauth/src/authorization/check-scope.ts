import type { Client } from '#database/client/client.js';
import { DEFAULT_SCOPE, SCOPES, scopeTokens } from '../scope.js';
import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/**
 * RFC 6749 3.3: "If the client omits the scope parameter […] the authorization server MUST either process the request
 * using a pre-defined default value or fail": here profile:read, or all that the client is registered for where that
 * is not among it.
 *
 * @returns space-separated scope tokens, each once, in the order of the request
 */
export function checkScope(parameters: RequestParameters, { scopes: registered }: Client): string {
  const requested = scopeTokens(parameters.get('scope', LIMITS.scope) ?? '');
  if (requested.length === 0)
    return registered.includes(DEFAULT_SCOPE) ? DEFAULT_SCOPE : registered.join(' ');
  const detail = { check: 'scope', registered, requested };
  if (!requested.every((token) => SCOPES.has(token)))
    throw OAuthError.invalidScope(`the scopes are: ${[...SCOPES.keys()].join(' ')}`, { detail });
  if (!requested.every((token) => registered.includes(token)))
    throw OAuthError.invalidScope(`this application may ask for: ${registered.join(' ')}`, { detail });
  return requested.join(' ');
}
