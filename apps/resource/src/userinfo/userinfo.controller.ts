import { Controller, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  CurrentToken,
  RequireScope,
  ResourceMetadata,
  TokenGuard,
  type TokenInfo,
} from '#introspection/index.js';
import { Refusals } from '#introspection/refusals.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext, referenceOf } from '#platform/logging/request-log.js';
import { FormTokenGuard } from './form-token.guard.js';
import {
  GET_USERINFO_OPERATION,
  POST_USERINFO_OPERATION,
  type UserInfo,
  USERINFO_ROUTE,
} from './userinfo.openapi.js';
import { UserInfoService } from './userinfo.service.js';

/** OpenID Connect Core 5.3: "The UserInfo Endpoint MUST support the use of the HTTP GET and HTTP POST methods". */
@Controller(ENDPOINTS.userInfo)
@UseGuards(FormTokenGuard, TokenGuard)
@RequireScope(USERINFO_ROUTE.scope)
@ResourceMetadata(USERINFO_ROUTE.metadata)
export class UserInfoController {
  constructor(
    private readonly users: UserInfoService,
    private readonly refusals: Refusals,
  ) {}

  @Get()
  @ApiOperation(GET_USERINFO_OPERATION)
  async get(
    @CurrentToken() token: TokenInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserInfo> {
    return this.userInfo(token, request, reply);
  }

  @Post()
  @HttpCode(200)
  @ApiOperation(POST_USERINFO_OPERATION)
  async post(
    @CurrentToken() token: TokenInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserInfo> {
    return this.userInfo(token, request, reply);
  }

  private async userInfo(token: TokenInfo, { raw }: FastifyRequest, reply: FastifyReply): Promise<UserInfo> {
    const { clientId, grantId, userId } = token;
    addLogContext(raw, { client_id: clientId, grant_id: grantId, user_id: userId });
    const claims = await this.users.find(token, referenceOf(raw));
    if (claims) return claims;
    const message = 'the user of this access token no longer exists';
    throw this.refusals.invalidToken(reply, USERINFO_ROUTE, message);
  }
}
