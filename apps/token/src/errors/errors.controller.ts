import { Controller, Get, Header } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAUTH_BUSY } from '#openapi/oauth-errors.js';
import { ApiOperation } from '#openapi/operation.js';
import { CONTENT_SECURITY_POLICY, errorsPage } from './errors.page.js';

const PAGE = errorsPage();

/** The page that `error_uri` leads to (RFC 6749 4.1.2.1 and 5.2). Its addresses are stable: programs and notes keep them. */
@Controller(ENDPOINTS.errors)
export class ErrorsController {
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Language', 'en')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  @ApiOperation({
    id: 'errors',
    tag: 'Metadata',
    summary: 'Every error, for people',
    description: 'The page that `error_uri` leads to. Its fragments are stable.',
    responses: {
      200: {
        description: 'What each error and each failed check means, and what to do.',
        content: { 'text/html': { schema: { type: 'string' } } },
      },
      ...OAUTH_BUSY,
    },
  })
  errors(): string {
    return PAGE;
  }
}
