import type { Client } from '#database/client/client.js';
import { isChallenge } from '../pkce.js';
import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/**
 * RFC 9700 2.1.1: "Public clients MUST use PKCE"; only with S256, since a plain challenge is the verifier itself.
 *
 * @returns the S256 challenge; null when a confidential client sent none
 */
export function checkPkce(parameters: RequestParameters, { type }: Client): string | null {
  const challenge = parameters.get('code_challenge', LIMITS.code_challenge);
  const method = parameters.get('code_challenge_method', LIMITS.code_challenge_method);
  if (challenge === undefined) {
    if (method !== undefined) throw refused('code_challenge_method came without code_challenge', method);
    // RFC 7636 4.4.1: "error_description … SHOULD explain the nature of error, e.g., code challenge required."
    if (type === 'public')
      throw refused('code challenge required: send code_challenge and code_challenge_method=S256');
    return null;
  }
  // RFC 7636 4.3: code_challenge_method "defaults to plain if not present in the request".
  if (method === undefined)
    throw refused('code_challenge_method is missing, which means plain: send code_challenge_method=S256');
  // RFC 7636 4.4.1: the server that does not support a transformation answers invalid_request.
  if (method !== 'S256')
    throw refused('transform algorithm not supported: the only code_challenge_method is S256', method);
  if (!isChallenge(challenge))
    throw refused('the code_challenge is not an S256 challenge: base64url of 32 bytes without padding');
  return challenge;
}

function refused(description: string, method?: string): OAuthError {
  return OAuthError.invalidRequest(description, {
    detail: { check: 'pkce', ...(method !== undefined && { code_challenge_method: method }) },
  });
}
