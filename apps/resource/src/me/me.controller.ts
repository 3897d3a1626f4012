import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Get, Req, Res, UnauthorizedException, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Challenges } from '#introspection/challenges.js';
import { CurrentToken } from '#introspection/current-token.decorator.js';
import type { TokenInfo } from '#introspection/introspector.js';
import { RequireScope } from '#introspection/require-scope.decorator.js';
import { TokenGuard } from '#introspection/token.guard.js';
import { addLogContext, referenceOf } from '#platform/logging/log-context.js';
import { ProfileCache } from './profile-cache.js';
import type { Profile } from './profile.js';

/** `GET /v2/me`: shows that an access token works, and whose it is (specification 4.4). */
@Controller(ENDPOINTS.me)
@UseGuards(TokenGuard)
@RequireScope('profile:read')
export class MeController {
  constructor(
    private readonly profiles: ProfileCache,
    private readonly challenges: Challenges,
  ) {}

  @Get()
  async me(
    @CurrentToken() token: TokenInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ status: 'success'; data: Profile }> {
    addLogContext(request.raw, { client_id: token.clientId, grant_id: token.grantId, user_id: token.userId });
    const profile = await this.profiles.find(token.userId, referenceOf(request.raw));
    if (!profile) {
      void reply.header('WWW-Authenticate', this.challenges.bearer('invalid_token'));
      throw new UnauthorizedException('the user of this access token does not exist any more');
    }
    return { status: 'success', data: profile };
  }
}
