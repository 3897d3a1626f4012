import { Controller, Get, Header, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  CurrentToken,
  RequireScope,
  ResourceMetadata,
  TokenGuard,
  type TokenInfo,
} from '#introspection/index.js';
import { Refusals } from '#introspection/refusals.js';
import { ENDPOINTS, ME_SCOPE } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext, referenceOf } from '#platform/logging/request-log.js';
import { ME_OPERATION } from './me.openapi.js';
import { ProfileService } from './profile.service.js';

/** RFC 9728 3.1 inserts the well-known path between host and path. */
export const ME_METADATA_PATH = ENDPOINTS.protectedResourceMetadata + ENDPOINTS.me;

const ME_ROUTE = { scope: ME_SCOPE, metadata: ME_METADATA_PATH };

@Controller(ENDPOINTS.me)
@UseGuards(TokenGuard)
@RequireScope(ME_SCOPE)
@ResourceMetadata(ME_METADATA_PATH)
export class MeController {
  constructor(
    private readonly profiles: ProfileService,
    private readonly refusals: Refusals,
  ) {}

  /** Returns a serialized `MeResponse`. */
  @Get()
  @Header('Content-Type', 'application/json; charset=utf-8')
  @ApiOperation(ME_OPERATION)
  async me(
    @CurrentToken() token: TokenInfo,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    addLogContext(raw, { client_id: token.clientId, grant_id: token.grantId, user_id: token.userId });
    const profile = await this.profiles.find(token.userId, referenceOf(raw));
    if (!profile)
      throw this.refusals.invalidToken(reply, ME_ROUTE, 'the user of this access token no longer exists');
    return profile;
  }
}
