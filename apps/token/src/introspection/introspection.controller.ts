import { Body, Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import { GrantEngine } from '#grants/grant-engine.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { LIMITS, Parameter } from '#oauth/parameters.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { type ClientRequest } from '../client-auth/client-authenticator.js';
import { ClientDto } from '../client-auth/client-credentials.dto.js';
import { ParametersPipe } from '../parameters.pipe.js';
import { ResourceServerAuthenticator } from '../client-auth/resource-server-authenticator.js';
import { TokenConfiguration } from '../token.configuration.js';
import { activeClaims } from './active-claims.js';
import { DisabledClientsService } from './disabled-clients.service.js';
import { type ActiveToken, type InactiveToken, INTROSPECT_OPERATION } from './introspection.openapi.js';

/** RFC 7662 2.1. `token_type_hint` is not needed, because a token contains its kind. */
class IntrospectDto extends ClientDto {
  @Parameter({ max: LIMITS.any_token, anyCharacter: true, description: 'An access token.' })
  token: string;

  @Parameter({ max: LIMITS.token_type_hint, required: false, description: 'Ignored.' })
  token_type_hint?: string;
}

/** Introspects tokens (RFC 7662) for resource servers that cannot use the introspection library. */
@Controller(ENDPOINTS.introspect)
export class IntrospectionController {
  constructor(
    private readonly authenticator: ResourceServerAuthenticator,
    private readonly engine: GrantEngine,
    private readonly clients: DisabledClientsService,
    private readonly configuration: TokenConfiguration,
  ) {}

  @Post()
  @ApiOperation(INTROSPECT_OPERATION)
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  async introspect(
    @Body(ParametersPipe) dto: IntrospectDto,
    @Req() request: ClientRequest,
  ): Promise<ActiveToken | InactiveToken> {
    await this.authenticator.authenticate(request, dto);
    const result = await this.clients.check(await this.engine.introspectWithoutProof(dto.token));
    addLogContext(request.raw, { grant_id: result.grantId, outcome: result.outcome });
    // RFC 7662 2.2. Even a refresh token gets this response, because an API may check only `active`.
    if (result.outcome !== 'active' || result.token.kind !== 'access') return { active: false };
    return {
      ...activeClaims(result),
      iss: this.configuration.BASE_URL,
      token_type: result.token.jkt === null ? 'Bearer' : 'DPoP',
    };
  }
}
