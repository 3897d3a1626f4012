import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAUTH_BUSY } from '#openapi/oauth-errors.js';
import { ApiOperation } from '#openapi/operation.js';
import {
  openApiOperation,
  sendDocument,
  serveDocument,
  type ServedDocument,
} from '#openapi/serve-document.js';
import { TokenConfiguration } from '../token.configuration.js';

@Controller(ENDPOINTS.openApi)
export class OpenApiController {
  private served: ServedDocument | undefined;

  constructor(private readonly configuration: TokenConfiguration) {}

  @Get()
  @ApiOperation(openApiOperation('openApiOfAuthorizationServer', OAUTH_BUSY))
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.served ??= await this.load();
    sendDocument(request, reply, this.served);
  }

  /** Loads the document on demand, because most processes never serve it. */
  private async load(): Promise<ServedDocument> {
    const { default: document } = await import('./openapi.json', { with: { type: 'json' } });
    const { AUTH_URL, BASE_URL } = this.configuration;
    return serveDocument(document, {
      'https://auth.example.com': AUTH_URL,
      'https://base.example.com': BASE_URL,
    });
  }
}
