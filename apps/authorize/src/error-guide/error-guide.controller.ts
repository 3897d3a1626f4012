import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { rawQuery } from '../urls.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { errorPages, page } from '../ui/page.openapi.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { errorGuidePage } from './error-guide.page.js';

/** Page to which `error_uri` points (RFC 6749 4.1.2.1 and 5.2). */
@Controller(ENDPOINTS.errorGuide)
export class ErrorGuideController {
  constructor(
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
  ) {}

  @Get()
  @ApiOperation({
    id: 'errorGuide',
    tag: 'Pages',
    summary: 'The error reference',
    responses: { 200: page('Meaning and remedy of each error and failed check.'), ...errorPages() },
  })
  guide(@Req() { headers, url }: FastifyRequest, @Res() reply: FastifyReply): void {
    this.pages.page(
      reply,
      200,
      errorGuidePage(this.language.translatorFor({ headers, query: rawQuery(url) })),
    );
  }
}
