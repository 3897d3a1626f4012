import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/**
 * docs/specification.md: state is required. RFC 6749 A.5 makes it of printable ASCII. Known deviation: any text without
 * control characters is returned as it came, because there are clients that put more into it.
 */
export function checkState(parameters: RequestParameters): string {
  const state = parameters.get('state', LIMITS.state);
  if (state === undefined)
    throw OAuthError.invalidRequest(
      "the parameter 'state' is missing: it protects your redirect URI against CSRF (RFC 6749 10.12). Send a random value and compare it with the one in the response; openid-client has randomState(), passport-oauth2 has state: true",
      { detail: { check: 'state' } },
    );
  return state;
}

/** RFC 6749 4.1.2.1: an error carries the state that came with the request, if it is one. */
export function stateToReturn(parameters: RequestParameters): string | null {
  try {
    return checkState(parameters);
  } catch {
    return null;
  }
}
