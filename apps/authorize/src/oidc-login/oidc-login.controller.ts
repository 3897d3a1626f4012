import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { rawQuery } from '../urls.js';
import { OidcLoginService } from './oidc-login.service.js';
import { LOGIN_RETURN_OPERATION } from '../external-login/external-login.openapi.js';
import { LoginResponder } from '../external-login/external-login.controller.js';

/** Redirect URI that is registered at the provider (OpenID Connect Core 3.1.2.5). */
@Controller(ENDPOINTS.loginCallback)
export class OidcLoginController {
  constructor(
    private readonly login: OidcLoginService,
    private readonly responder: LoginResponder,
  ) {}

  @Get()
  @ApiOperation(LOGIN_RETURN_OPERATION)
  async finish(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { url, headers } = request;
    this.responder.finish(request, reply, await this.login.finish(headers.cookie, rawQuery(url)));
  }
}
