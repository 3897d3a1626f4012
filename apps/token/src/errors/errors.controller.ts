import { Controller, Get, Redirect } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAUTH_BUSY } from '#openapi/oauth-errors.js';
import { ApiOperation } from '#openapi/operation.js';
import { TokenConfiguration } from '../token.configuration.js';

/**
 * The address of `error_uri` (RFC 6749 4.1.2.1 and 5.2), which is stable: programs and notes keep it. Redirects to the page,
 * which the authorize app shows as it shows every page; the browser keeps the fragment (RFC 9110 10.2.2).
 */
@Controller(ENDPOINTS.errors)
export class ErrorsController {
  constructor(private readonly configuration: TokenConfiguration) {}

  @Get()
  @Redirect()
  @ApiOperation({
    id: 'errors',
    tag: 'Metadata',
    summary: 'Every error, for people',
    description: 'Where `error_uri` leads. Its fragments are stable.',
    responses: {
      302: {
        description: 'To the page of every error, whose fragments are the same.',
        headers: { Location: { description: 'The page, at `AUTH_URL`.', required: true } },
      },
      ...OAUTH_BUSY,
    },
  })
  errors(): { url: string } {
    return { url: this.configuration.AUTH_URL + ENDPOINTS.errorGuide };
  }
}
