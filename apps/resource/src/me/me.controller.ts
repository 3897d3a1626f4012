import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentToken, RequireScope, TokenGuard, type TokenInfo } from '#introspection/index.js';
import { Refusals } from '#introspection/refusals.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext, referenceOf } from '#platform/logging/request-log.js';
import { ME_OPERATION, type MeAnswer } from './me.openapi.js';
import { ProfileService } from './profile.service.js';

/** The scope that `/v2/me` requires. */
export const ME_SCOPE = 'profile:read';

/** `GET /v2/me`: shows that an access token works, and the profile of its user (docs/specification.md). */
@Controller(ENDPOINTS.me)
@UseGuards(TokenGuard)
@RequireScope(ME_SCOPE)
export class MeController {
  constructor(
    private readonly profiles: ProfileService,
    private readonly refusals: Refusals,
  ) {}

  @Get()
  @ApiOperation(ME_OPERATION)
  async me(
    @CurrentToken() token: TokenInfo,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MeAnswer> {
    addLogContext(raw, { client_id: token.clientId, grant_id: token.grantId, user_id: token.userId });
    const profile = await this.profiles.find(token.userId, referenceOf(raw));
    if (!profile)
      throw this.refusals.invalidToken(reply, 'the user of this access token does not exist any more');
    return { status: 'success', data: profile };
  }
}
