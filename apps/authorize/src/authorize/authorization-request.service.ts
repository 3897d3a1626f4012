import { Injectable } from '@nestjs/common';
import type { AuthorizationRequest } from '#oauth/authorization/authorization-request.js';
import { checkAuthorizationRequest } from '#oauth/authorization/check-authorization-request.js';
import { LIMITS } from '#oauth/authorization/limits.js';
import { RequestParameters } from '#oauth/authorization/request-parameters.js';
import { AuthorizationContextStore } from '#database/client/authorization-context.store.js';
import type { Client } from '#database/client/client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { askedScopes } from '../consent/remembered-consent.js';
import { isCurrent } from '../session/is-current.js';
import type { Session } from '../session/session.js';
import { checkClient, clientIdOf } from './check-client.js';
import type { IncomingRequest } from './incoming-request.js';
import { PushedRequestService } from './pushed-request.service.js';

/** Reads authorization requests; GET and POST of the same request go through the same checks. */
@Injectable()
export class AuthorizationRequestService {
  constructor(
    private readonly contexts: AuthorizationContextStore,
    private readonly pushed: PushedRequestService,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * Costs one query, for client, user and earlier consent together; a request that was pushed costs one script in
   * Redis as well.
   *
   * @param query by `rawQuery`
   * @param session of the browser that it came from
   * @throws OAuthError, a RedirectableError once it is certain that the redirect URI is the client's
   */
  async read(query: string, session: Session | null): Promise<IncomingRequest> {
    const parameters = RequestParameters.fromQuery(query);
    const clientId = clientIdOf(parameters);
    const context = await this.contexts.find(clientId, session?.userId ?? null);
    const client = checkClient(clientId, context.client);
    const user = session && context.user && isCurrent(session, context.user) ? context.user : null;
    const { request, pushedId } = await this.check(parameters, client, user !== null);
    const asked = askedScopes(request.scope, client, user ? context.decisions : []);
    return { ...request, pushedId, user, asked, grantsOfDay: context.grantsOfDay };
  }

  /** As `read`, for the login on the way: null for what is no good request, which is said where it leads. */
  async readIfGood(query: string, session: Session | null): Promise<IncomingRequest | null> {
    try {
      return await this.read(query, session);
    } catch (error) {
      if (error instanceof OAuthError && error.status < 500) return null;
      throw error;
    }
  }

  private async check(
    parameters: RequestParameters,
    client: Client,
    loggedIn: boolean,
  ): Promise<{ request: AuthorizationRequest; pushedId: string | null }> {
    const requestUri = parameters.get('request_uri', LIMITS.redirect_uri);
    if (requestUri === undefined) {
      const pushRequired = client.requirePar || this.configuration.REQUIRE_PAR === 'true';
      const { apis } = this.configuration;
      return {
        request: checkAuthorizationRequest(parameters, client, { pushRequired, apis }),
        pushedId: null,
      };
    }
    // RFC 9101 6.3, which RFC 9126 4 refers to: what stands beside client_id and request_uri does not count. The checks
    // are made again, because the registration may have changed since the push.
    const { id, parameters: kept } = await this.pushed.open(requestUri, client, loggedIn);
    return { request: checkAuthorizationRequest(kept, client), pushedId: id };
  }
}
