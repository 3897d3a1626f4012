import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { rawQuery } from '../addresses.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { errorPages, page } from '../ui/page.openapi.js';
import { PageResponder } from '../ui/page.responder.js';
import { errorGuidePage } from './error-guide.page.js';

/** Shows every error: `error_uri` leads here (RFC 6749 4.1.2.1 and 5.2). */
@Controller(ENDPOINTS.errorGuide)
export class ErrorGuideController {
  constructor(
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  @ApiOperation({
    id: 'errorGuide',
    tag: 'Pages',
    summary: 'Every error',
    responses: { 200: page('What each error and each failed check means, and what to do.'), ...errorPages() },
  })
  guide(@Req() { headers, url }: FastifyRequest, @Res() reply: FastifyReply): void {
    this.pages.page(
      reply,
      200,
      errorGuidePage(this.language.translatorFor({ headers, query: rawQuery(url) })),
    );
  }
}
