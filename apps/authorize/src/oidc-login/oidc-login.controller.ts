import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { rawQuery } from '../urls.js';
import { PageResponder } from '../ui/page.responder.js';
import { OidcLoginService } from './oidc-login.service.js';
import { LOGIN_RETURN_OPERATION } from '../external-login/external-login.openapi.js';
import { sendFinishedLogin } from '../external-login/finished-login.js';

/** The redirect URI at the provider (OpenID Connect Core 3.1.2.5). */
@Controller(ENDPOINTS.loginCallback)
export class OidcLoginController {
  constructor(
    private readonly login: OidcLoginService,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  @ApiOperation(LOGIN_RETURN_OPERATION)
  async finish(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    sendFinishedLogin(raw, reply, this.pages, await this.login.finish(headers.cookie, rawQuery(url)));
  }
}
