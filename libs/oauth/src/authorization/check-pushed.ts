import { OAuthError } from '../oauth-error.js';

/**
 * RFC 9126 5 and 6: a client or server that requires pushed requests gets any other refused. It comes before
 * the checks of values: a client that mends those would only get here.
 */
export function checkPushed(pushRequired: boolean): void {
  if (!pushRequired) return;
  throw OAuthError.invalidRequest(
    'the authorization request must be pushed (RFC 9126): send its parameters to the pushed authorization request endpoint and only client_id and request_uri here',
    { detail: { check: 'pushed' } },
  );
}
