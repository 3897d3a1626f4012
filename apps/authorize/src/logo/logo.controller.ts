import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';
import { LogoService } from './logo.service.js';

/** Logos of applications, from here and not from their makers: no third party sees who is asked for consent. */
@Controller(ENDPOINTS.logos)
export class LogoController {
  constructor(private readonly logos: LogoService) {}

  @Get(':digest')
  async logo(@Param('digest') digest: string, @Res() reply: FastifyReply): Promise<void> {
    const logo = await this.logos.find(digest);
    if (!logo) throw new OAuthError('not_found', 404, 'there is no such image');
    void reply
      // Opened by itself, and taken for something else by whatever browser: it still can do nothing.
      .header('Content-Security-Policy', "default-src 'none'; sandbox")
      .type(logo.mediaType)
      .send(logo.image);
  }
}
