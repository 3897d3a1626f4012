import { Inject, Injectable } from '@nestjs/common';
import { checkAuthorizationRequest } from '#authorization/check-authorization-request.js';
import { LIMITS } from '#authorization/limits.js';
import { pushedParameters } from '#authorization/pushed-parameters.js';
import { PushedRequestStore } from '#authorization/pushed-request.store.js';
import { RequestParameters } from '#authorization/request-parameters.js';
import { generateRequestUri, pushedRequestId } from '#authorization/request-uri.js';
import type { Client } from '#directory/client.js';
import { OAuthError } from '#service/oauth/oauth-error.js';
import { TokenConfiguration } from '../token.configuration.js';

/** A request that waits to be opened; the id is for the log. */
export interface Pushed {
  readonly requestUri: string;
  readonly id: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/** Keeps the authorization requests that clients push. */
@Injectable()
export class ParService {
  constructor(
    private readonly store: PushedRequestStore,
    @Inject(TokenConfiguration) private readonly configuration: TokenConfiguration,
  ) {}

  /**
   * RFC 9126 2.1, for a client that is authenticated by now.
   *
   * @param jkt thumbprint of the key that the request proved; null when it proved none
   * @throws OAuthError of the authorize endpoint's own checks, or invalid_request
   */
  async push(client: Client, body: object, jkt: string | null): Promise<Pushed> {
    const parameters = RequestParameters.fromBody(withProvedKey(body, jkt));
    // 2.1: "The request_uri authorization request parameter is one exception, and it MUST NOT be provided."
    if (parameters.get('request_uri', LIMITS.redirect_uri) !== undefined)
      throw OAuthError.invalidRequest("the parameter 'request_uri' must not be pushed", {
        detail: { check: 'request_uri' },
      });
    checkAuthorizationRequest(parameters, client, { apis: this.configuration.apis });
    const requestUri = generateRequestUri();
    const id = pushedRequestId(requestUri);
    if (id === null) throw new Error('a request URI of ours is not read as one');
    const { clientId } = client;
    const expiresIn = this.configuration.PAR_LIFETIME;
    await this.store.push(id, clientId, pushedParameters(parameters, clientId), expiresIn);
    return { requestUri, id, expiresIn };
  }
}

/**
 * RFC 9449 10.1: a proof of the pushed request counts as its dpop_jkt. "If both mechanisms are used at the same time, the
 * authorization server MUST reject the request if the JWK Thumbprint in dpop_jkt does not match the public key in the
 * DPoP header."
 */
function withProvedKey(body: object, jkt: string | null): object {
  if (jkt === null) return body;
  const named = 'dpop_jkt' in body ? body.dpop_jkt : undefined;
  if (named !== undefined && named !== jkt)
    throw OAuthError.invalidRequest("the parameter 'dpop_jkt' is not the thumbprint of the proof's key", {
      detail: { check: 'dpop_jkt', proved: jkt },
    });
  return { ...body, dpop_jkt: jkt };
}
