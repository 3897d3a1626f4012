import type { Client } from '#database/client/client.js';
import { OAuthError } from '../oauth-error.js';
import type { AuthorizationRequest } from './authorization-request.js';
import { checkDpopKey } from './check-dpop-key.js';
import { checkPkce } from './check-pkce.js';
import { checkPrompt } from './check-prompt.js';
import { checkPushed } from './check-pushed.js';
import { checkRedirectUri } from './check-redirect-uri.js';
import { checkResource } from './check-resource.js';
import { checkResponseMode, checkResponseType } from './check-response-type.js';
import { checkScope } from './check-scope.js';
import { checkState, stateToReturn } from './check-state.js';
import { LIMITS } from './limits.js';
import { RedirectableError } from './redirectable.error.js';
import type { RequestParameters } from './request-parameters.js';

/**
 * Validates an authorization request. The authorize endpoint and the PAR endpoint share these checks (RFC 9126 2.1,
 * step 3).
 *
 * @param options pushRequired: refuse the request, because it should have been pushed; apis: origins that the
 * `resource` parameter may name
 * @throws OAuthError; a RedirectableError once the redirect URI is known to be the client's
 */
export function checkAuthorizationRequest(
  parameters: RequestParameters,
  client: Client,
  {
    pushRequired = false,
    apis = [],
  }: { readonly pushRequired?: boolean; readonly apis?: readonly string[] } = {},
): AuthorizationRequest {
  const redirectUri = checkRedirectUri(parameters, client);
  try {
    checkPushed(pushRequired);
    // Before the other values, so that every later error carries the client's state.
    const state = checkState(parameters);
    checkResponseType(parameters);
    checkResponseMode(parameters);
    const challenge = checkPkce(parameters, client);
    const jkt = checkDpopKey(parameters);
    const scope = checkScope(parameters, client);
    checkResource(parameters.all('resource'), apis);
    const prompt = checkPrompt(parameters);
    const loginHint = parameters.get('login_hint', LIMITS.login_hint) ?? null;
    const uiLocales = parameters.get('ui_locales', LIMITS.ui_locales) ?? null;
    return { client, redirectUri, state, scope, challenge, jkt, prompt, loginHint, uiLocales };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const returnTo = { redirectUri, state: stateToReturn(parameters) };
    throw new RedirectableError(error, returnTo, client.clientId);
  }
}
