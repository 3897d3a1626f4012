import { Injectable } from '@nestjs/common';
import type { AuthorizationRequest } from '#authorization/authorization-request.js';
import { checkAuthorizationRequest } from '#authorization/check-authorization-request.js';
import { RequestParameters } from '#authorization/request-parameters.js';
import { ClientStore } from '#directory/client.store.js';
import { checkClient } from './check-client.js';

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
    const parameters = RequestParameters.fromQuery(query);
    const client = await checkClient(parameters, this.clients);
    return checkAuthorizationRequest(parameters, client);
  }
}
