import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import {
  openApiOperation,
  sendDocument,
  serveDocument,
  type ServedDocument,
} from '#openapi/serve-document.js';
import { apiErrors } from './api-errors.js';
import { ResourceConfiguration } from '../resource.configuration.js';

@Controller(ENDPOINTS.resourceOpenApi)
export class OpenApiController {
  private served: ServedDocument | undefined;

  constructor(private readonly configuration: ResourceConfiguration) {}

  @Get()
  @ApiOperation(openApiOperation('openApiOfResourceServer', apiErrors(429, 503)))
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.served ??= await this.load();
    sendDocument(request, reply, this.served);
  }

  /** Loads the document on demand, because most processes never serve it. */
  private async load(): Promise<ServedDocument> {
    const { default: document } = await import('./openapi.json', { with: { type: 'json' } });
    const { API_URL, BASE_URL } = this.configuration;
    return serveDocument(document, {
      'https://api.example.com': API_URL,
      'https://base.example.com': BASE_URL,
    });
  }
}
