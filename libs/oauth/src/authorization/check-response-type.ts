import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/** RFC 6749 4.1.1: "Value MUST be set to code". Known deviation: the specification has no response_type, so absent means code. */
export function checkResponseType(parameters: RequestParameters): void {
  const responseType = parameters.get('response_type', LIMITS.response_type);
  if (responseType === undefined || responseType === 'code') return;
  throw new OAuthError('unsupported_response_type', 400, 'the only response_type is code', {
    detail: { check: 'response_type', response_type: responseType },
  });
}

/**
 * OAuth 2.0 Multiple Response Type Encoding Practices 2.1: query is the default for the response type code. Ignoring
 * another mode would send the answer where the client does not look for it.
 */
export function checkResponseMode(parameters: RequestParameters): void {
  const responseMode = parameters.get('response_mode', LIMITS.response_mode);
  if (responseMode === undefined || responseMode === 'query') return;
  throw OAuthError.invalidRequest('the only response_mode is query: send that or none', {
    detail: { check: 'response_mode', response_mode: responseMode },
  });
}
