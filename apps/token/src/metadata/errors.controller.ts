import { Controller, Get, Redirect } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAUTH_BUSY } from '#openapi/oauth-errors.js';
import { ApiOperation } from '#openapi/operation.js';
import { TokenConfiguration } from '../token.configuration.js';

/**
 * Stable target of `error_uri` (RFC 6749 5.2), which redirects to the error guide. Browsers keep the fragment (RFC 9110
 * 10.2.2).
 */
@Controller(ENDPOINTS.errors)
export class ErrorsController {
  constructor(private readonly configuration: TokenConfiguration) {}

  @Get()
  @Redirect()
  @ApiOperation({
    id: 'errors',
    tag: 'Metadata',
    summary: 'Human-readable guide to all errors',
    description: 'Target of `error_uri`. Its fragments are stable.',
    responses: {
      302: {
        description: 'Redirect to the error guide, which has the same fragments.',
        headers: { Location: { description: 'The error guide, at `AUTH_URL`.', required: true } },
      },
      ...OAUTH_BUSY,
    },
  })
  errors(): { url: string } {
    return { url: this.configuration.AUTH_URL + ENDPOINTS.errorGuide };
  }
}
