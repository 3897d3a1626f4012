import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusals } from '#introspection/refusals.js';
import type { Parameters } from '#oauth/parameters.js';
import {
  CurrentToken,
  RequireScope,
  ResourceMetadata,
  TokenGuard,
  type TokenInfo,
} from '#introspection/index.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext, referenceOf } from '#platform/logging/request-log.js';
import {
  GET_USERINFO_OPERATION,
  POST_USERINFO_OPERATION,
  type UserInfo,
  USERINFO_ROUTE,
} from './userinfo.openapi.js';
import { UserInfoService } from './userinfo.service.js';

/**
 * Accepts an access token in a form body (RFC 6750 2.2), as UserInfo must (OpenID Connect Core 5.3.1). Copies the token
 * to the Authorization header, because the subsequent `TokenGuard` reads only this header.
 */
@Injectable()
class FormTokenGuard implements CanActivate {
  constructor(private readonly refusals: Refusals) {}

  canActivate(context: ExecutionContext): true {
    const http = context.switchToHttp();
    const { method, headers, body } = http.getRequest<FastifyRequest<{ Body: Parameters | undefined }>>();
    const type = headers['content-type'] ?? '';
    if (method !== 'POST' || !/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return true;
    const token = body?.['access_token'];
    if (token === undefined) return true;
    // RFC 6750 2: "Clients MUST NOT use more than one method to transmit the token in each request."
    if (headers.authorization !== undefined || typeof token !== 'string')
      throw this.refusals.repeatedToken(http.getResponse<FastifyReply>(), USERINFO_ROUTE);
    headers.authorization = `Bearer ${token}`;
    return true;
  }
}

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
