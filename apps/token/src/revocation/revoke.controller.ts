import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import { GrantEngine } from '#grants/grant-engine.js';
import { addLogContext } from '#platform/logging/log-context.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { readParameters } from '#oauth/read-parameters.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.service.js';
import { readCredentials } from '../client-auth/client-credentials.js';
import type { HttpRequest } from '../token/token-request.js';
import { ClientDto } from '../token/token.dto.js';
import { TokenDto } from './revoke.dto.js';

/** `POST /api/auth/oauth/revoke`: RFC 7009. Revoking any token revokes its grant (2.1 allows it). */
@Controller(ENDPOINTS.revoke)
export class RevokeController {
  constructor(
    private readonly authenticator: ClientAuthenticator,
    private readonly engine: GrantEngine,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  async revoke(@Req() { headers, body, raw }: HttpRequest): Promise<Record<string, never>> {
    const { token } = readParameters(TokenDto, body);
    const credentials = readCredentials(headers.authorization, readParameters(ClientDto, body));
    const { clientId } = await this.authenticator.authenticate(credentials);
    const { outcome, grantId } = await this.engine.revokeByToken(token, clientId);
    addLogContext(raw, { client_id: clientId, grant_id: grantId, outcome });
    // 2.1: "If this validation fails, the request is refused and the client is informed of the error"
    if (outcome === 'other_client') throw OAuthError.invalidGrant('the token was issued to another client');
    // 2.2: what is not valid (any more) is as good as revoked
    return {};
  }
}
