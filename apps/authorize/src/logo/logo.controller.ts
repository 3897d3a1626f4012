import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiOperation, type OperationDescription } from '#openapi/operation.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { errorPages, IMAGE } from '../ui/page.openapi.js';
import { LogoService } from './logo.service.js';

const LOGO_OPERATION: OperationDescription = {
  id: 'logo',
  tag: 'Pages',
  summary: 'Logo of an application',
  parameters: {
    digest: { in: 'path', required: true, description: 'SHA-256 of the image, in hexadecimal.' },
  },
  responses: { 200: { description: 'The image.', content: IMAGE }, ...errorPages(404) },
};

/** Serves the logos of applications from this origin, so that pages do not reveal visits to third parties. */
@Controller(ENDPOINTS.logos)
export class LogoController {
  constructor(private readonly logos: LogoService) {}

  @Get(':digest')
  @ApiOperation(LOGO_OPERATION)
  async logo(@Param('digest') digest: string, @Res() reply: FastifyReply): Promise<void> {
    const logo = await this.logos.find(digest);
    if (!logo) throw new OAuthError('not_found', 404, 'not_found.image');
    void reply
      // Defence in depth, in case the image is opened as a document and the browser guesses another type.
      .header('Content-Security-Policy', "default-src 'none'; sandbox")
      .type(logo.mediaType)
      .send(logo.image);
  }
}
