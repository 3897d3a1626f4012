import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { checkResource } from '#oauth/authorization/check-resource.js';
import type { Client } from '#database/client/client.js';
import type { Granted } from '#grants/grant.js';
import { addLogContext } from '#platform/logging/log-context.js';
import { readParameters } from '#oauth/read-parameters.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.service.js';
import { readCredentials } from '../client-auth/client-credentials.js';
import type { ProvedRequest } from '../dpop/dpop.guard.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { TokenConfiguration } from '../token.configuration.js';
import { ClientDto, type TokenAnswer } from './token.dto.js';

export interface HttpRequest extends ProvedRequest {
  readonly headers: { readonly authorization?: string };
  readonly body: unknown;
  readonly raw: IncomingMessage;
  /** The client's address, resolved through TRUSTED_PROXIES. */
  readonly ip: string;
}

/** The frame of every token request: who asks, and the answer's wire names and log line. */
@Injectable()
export class TokenRequest {
  constructor(
    private readonly authenticator: ClientAuthenticator,
    private readonly proofs: DpopProofService,
    @Inject(TokenConfiguration) private readonly configuration: TokenConfiguration,
  ) {}

  /** @param grant what is asked for, by a client that proved the key `jkt` (RFC 9449; null: none) */
  async answer(
    { headers, body, raw, proof }: HttpRequest,
    grant: (client: Client, jkt: string | null) => Promise<Granted>,
  ): Promise<TokenAnswer> {
    const credentials = readCredentials(headers.authorization, readParameters(ClientDto, body));
    addLogContext(raw, { client_id: credentials.clientId });
    const client = await this.authenticator.authenticate(credentials);
    // RFC 8707 2.2, for codes and refresh tokens.
    checkResource(resourceOf(body), this.configuration.apis);
    // After the client is known, so that nobody else fills Redis.
    const jkt = await this.proofs.keyOf(proof);
    const { grantId, grant: active, pair } = await grant(client, jkt);
    addLogContext(raw, { grant_id: grantId, user_id: active.userId, generation: active.generation });
    return {
      access_token: pair.accessToken,
      refresh_token: pair.refreshToken,
      token_type: pair.type,
      expires_in: pair.expiresIn,
      scope: pair.scope,
    };
  }
}

/** `resource` may be repeated, which the DTOs' single-string parameters cannot express. */
function resourceOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'resource' in body ? body.resource : undefined;
}
