import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiOperation } from '#openapi/operation.js';
import {
  openApiOperation,
  sendDocument,
  serveDocument,
  type ServedDocument,
} from '#openapi/serve-document.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import { Public } from '#pages/route-rules.js';
import { API } from './operation-rules.js';
import { problemResponse } from './problem.openapi.js';

@Controller(`${API}/openapi.json`)
@Public()
export class OpenApiController {
  private served: ServedDocument | undefined;

  constructor(private readonly configuration: ConsoleConfiguration) {}

  @Get()
  @ApiOperation(openApiOperation('openApiOfAdministration', { 503: problemResponse(503) }))
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.served ??= await this.load();
    sendDocument(request, reply, this.served);
  }

  /** Imports the document on demand, because most processes never serve it. */
  private async load(): Promise<ServedDocument> {
    const { default: document } = await import('../openapi/openapi.json', { with: { type: 'json' } });
    return serveDocument(document, { 'https://console.example.com': this.configuration.CONSOLE_URL });
  }
}
