import { Body, Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import { addAuditEvent } from '#audit/request-events.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { LIMITS, Parameter } from '#oauth/parameters.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { ClientAuthenticator, type ClientRequest } from '../client-auth/client-authenticator.js';
import { ClientDto } from '../client-auth/client-credentials.dto.js';
import { ParametersPipe } from '../parameters.pipe.js';
import { REVOKE_OPERATION } from './revoke.openapi.js';

/** RFC 7009 2.1. `token_type_hint` is not needed, because a token contains its kind. */
class RevokeDto extends ClientDto {
  @Parameter({
    max: LIMITS.any_token,
    anyCharacter: true,
    description: 'An access or refresh token, expired or not.',
  })
  token: string;

  @Parameter({ max: LIMITS.token_type_hint, required: false, description: 'Ignored.' })
  token_type_hint?: string;
}

/** An access or refresh token revokes its whole grant, which RFC 7009 2.1 permits. */
@Controller(ENDPOINTS.revoke)
export class RevokeController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly engine: GrantEngine,
  ) {}

  @Post()
  @ApiOperation(REVOKE_OPERATION)
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  async revoke(
    @Body(ParametersPipe) dto: RevokeDto,
    @Req() request: ClientRequest,
  ): Promise<Record<string, never>> {
    const { clientId } = await this.clients.authenticate(request, dto);
    const { outcome, grantId } = await this.engine.revokeByToken(dto.token, clientId);
    addLogContext(request.raw, { grant_id: grantId, outcome });
    if (outcome === 'revoked') addAuditEvent(request.raw, 'grant.revoked');
    // RFC 7009 2.1: "If this validation fails, the request is refused and the client is informed of the error"
    if (outcome === 'other_client') throw new OAuthError('invalid_grant', 400, 'other_client.token');
    // RFC 7009 2.2: an invalid token gets status 200 too.
    return {};
  }
}
