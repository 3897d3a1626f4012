import { Injectable } from '@nestjs/common';
import { ClientStore } from '#directory/client.store.js';
import { OAuthError } from '#service/oauth/oauth-error.js';
import type { AuthorizationRequest } from './authorization-request.js';
import { checkClient } from './check-client.js';
import { checkPkce } from './check-pkce.js';
import { checkRedirectUri } from './check-redirect-uri.js';
import { checkRepeated } from './check-repeated.js';
import { checkResponseType } from './check-response-type.js';
import { checkScope } from './check-scope.js';
import { checkState, stateToReturn } from './check-state.js';
import { QueryParameters } from './query-parameters.js';
import { RedirectableError } from './redirectable.error.js';

/** Reads authorization requests; GET and POST of the same request go through the same checks. */
@Injectable()
export class AuthorizationRequestService {
  constructor(private readonly clients: ClientStore) {}

  /**
   * Costs one query.
   *
   * @param query by `rawQuery`
   * @throws OAuthError, a RedirectableError once it is certain that the redirect URI is the client's
   */
  async read(query: string): Promise<AuthorizationRequest> {
    const parameters = QueryParameters.parse(query);
    const client = await checkClient(parameters, this.clients);
    const redirectUri = checkRedirectUri(parameters, client);
    try {
      checkRepeated(parameters);
      // First of those that look at a value: a client that gets any later error wants its state with it.
      const state = checkState(parameters);
      checkResponseType(parameters);
      const challenge = checkPkce(parameters, client);
      return { client, redirectUri, state, scope: checkScope(parameters), challenge };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const returnTo = { redirectUri, state: stateToReturn(parameters) };
      throw new RedirectableError(error, returnTo, client.clientId);
    }
  }
}
