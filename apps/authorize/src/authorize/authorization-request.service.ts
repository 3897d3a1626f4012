import { Injectable } from '@nestjs/common';
import { checkAuthorizationRequest } from '#authorization/check-authorization-request.js';
import { LIMITS } from '#authorization/limits.js';
import { RequestParameters } from '#authorization/request-parameters.js';
import { ClientStore } from '#directory/client.store.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { checkClient } from './check-client.js';
import type { IncomingRequest } from './incoming-request.js';
import { PushedRequestService } from './pushed-request.service.js';

/** Reads authorization requests; GET and POST of the same request go through the same checks. */
@Injectable()
export class AuthorizationRequestService {
  constructor(
    private readonly clients: ClientStore,
    private readonly pushed: PushedRequestService,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * Costs one query; a request that was pushed costs one script in Redis as well.
   *
   * @param query by `rawQuery`
   * @throws OAuthError, a RedirectableError once it is certain that the redirect URI is the client's
   */
  async read(query: string): Promise<IncomingRequest> {
    const parameters = RequestParameters.fromQuery(query);
    const client = await checkClient(parameters, this.clients);
    const requestUri = parameters.get('request_uri', LIMITS.redirect_uri);
    if (requestUri === undefined) {
      const pushRequired = client.requirePar || this.configuration.REQUIRE_PAR === 'true';
      return { ...checkAuthorizationRequest(parameters, client, { pushRequired }), pushedId: null };
    }
    // RFC 9101 6.3, which RFC 9126 4 refers to: what stands beside client_id and request_uri does not count. The checks
    // are made again, because the registration may have changed since the push.
    const { id, parameters: kept } = await this.pushed.open(requestUri, client);
    return { ...checkAuthorizationRequest(kept, client), pushedId: id };
  }
}
