import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { ApiOperation } from '#openapi/operation.js';
import { LogoService } from './logo.service.js';
import { LOGO_OPERATION } from '../ui/page.openapi.js';

/** Serves the logos of applications, so that no third party learns who visits a page. */
@Controller(ENDPOINTS.logos)
export class LogoController {
  constructor(private readonly logos: LogoService) {}

  @Get(':digest')
  @ApiOperation(LOGO_OPERATION)
  async logo(@Param('digest') digest: string, @Res() reply: FastifyReply): Promise<void> {
    const logo = await this.logos.find(digest);
    if (!logo) throw new OAuthError('not_found', 404, 'there is no such image');
    void reply
      // Defence in depth, if the image is opened as a document and a browser takes it for another type.
      .header('Content-Security-Policy', "default-src 'none'; sandbox")
      .type(logo.mediaType)
      .send(logo.image);
  }
}
