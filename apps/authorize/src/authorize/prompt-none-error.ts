import { RedirectableError } from '#oauth/authorization/redirectable.error.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { IncomingRequest } from './incoming-request.js';

/**
 * OpenID Connect Core 3.1.2.1: with prompt=none "an error is returned if an End-User is not already Authenticated or the
 * Client does not have pre-configured consent"; 3.1.2.6 names the errors.
 */
export function promptNoneError(page: 'login' | 'consent', request: IncomingRequest): RedirectableError {
  const detail = { check: 'prompt', ...(request.user && { user_id: request.user.id }) };
  const error =
    page === 'login'
      ? new OAuthError('login_required', 400, 'nobody is logged in, and prompt=none allows no page', {
          detail,
        })
      : new OAuthError('consent_required', 400, 'the user must be asked, and prompt=none allows no page', {
          detail,
        });
  return new RedirectableError(error, request, request.client.clientId);
}
