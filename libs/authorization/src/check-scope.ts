import { OAuthError } from '#service/oauth/oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';
import { DEFAULT_SCOPE, SCOPES } from './scopes.js';

/**
 * RFC 6749 3.3: a list of "space-delimited, case-sensitive strings" whose order does not matter. Known deviation:
 * commas separate as well, as several client libraries write them.
 *
 * @returns space-separated scope tokens, each once
 */
export function checkScope(parameters: RequestParameters): string {
  const requested = (parameters.get('scope', LIMITS.scope) ?? '')
    .split(/[ ,]+/)
    .filter((token) => token !== '');
  const unknown = requested.filter((token) => !SCOPES.has(token));
  if (unknown.length > 0)
    throw new OAuthError('invalid_scope', 400, `the scopes are: ${[...SCOPES.keys()].join(' ')}`, {
      detail: { check: 'scope', unknown },
    });
  return requested.length === 0 ? DEFAULT_SCOPE : [...new Set(requested)].join(' ');
}
