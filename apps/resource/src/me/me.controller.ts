import { Controller, Get, Req, UnauthorizedException, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentToken } from '#introspection/current-token.decorator.js';
import type { TokenInfo } from '#introspection/introspector.js';
import { RequireScope } from '#introspection/require-scope.decorator.js';
import { TokenGuard } from '#introspection/token.guard.js';
import { referenceOf } from '#service/logging/logging.module.js';
import { noteOutcome } from '#service/logging/request-outcome.js';
import { ProfileCache } from './profile-cache.js';
import type { Profile } from './profile.js';

/** `GET /v2/me`: shows that an access token works, and whose it is (specification 4.4). */
@Controller('v2/me')
@UseGuards(TokenGuard)
@RequireScope('profile:read')
export class MeController {
  constructor(private readonly profiles: ProfileCache) {}

  @Get()
  async me(
    @CurrentToken() token: TokenInfo,
    @Req() request: FastifyRequest,
  ): Promise<{ status: 'success'; data: Profile }> {
    noteOutcome(request.raw, { client_id: token.clientId, grant_id: token.grantId, user_id: token.userId });
    const profile = await this.profiles.find(token.userId, referenceOf(request.raw));
    if (!profile) throw new UnauthorizedException('the user of this access token does not exist any more');
    return { status: 'success', data: profile };
  }
}
