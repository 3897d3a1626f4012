import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addAuditEvent } from '#audit/request-events.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { descriptionOf } from '#error-guide/error-description.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { ApiOperation } from '#openapi/operation.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { addErrorToLog, addLogContext, referenceOf } from '#platform/logging/request-log.js';
import type { FormFields } from '../session/csrf.guard.js';
import { BackChannelLogoutService } from './back-channel-logout.service.js';
import { BACK_CHANNEL_LOGOUT_OPERATION } from './external-login.openapi.js';

/** Receives requests from the login provider's server. Needs no cookie, and responds to errors with JSON. */
@Controller(ENDPOINTS.backChannelLogout)
export class BackChannelLogoutController {
  constructor(private readonly logout: BackChannelLogoutService) {}

  /** Implements sections 2.5 and 2.8 of OpenID Connect Back-Channel Logout 1.0. */
  @Post()
  @ApiOperation(BACK_CHANNEL_LOGOUT_OPERATION)
  async receive(
    @Req() { raw }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    try {
      addLogContext(raw, await this.logout.logout(fields['logout_token']));
      addAuditEvent(raw, 'login.ended');
      void reply.status(200).send();
    } catch (thrown) {
      const error = thrown instanceof OAuthError ? thrown : OAuthError.fromFailure(failedRequest(thrown));
      const { code, status, reason, headers } = error;
      const description = descriptionOf(reason);
      addErrorToLog(raw, error, description);
      // Section 2.8 permits a JSON body with error and error_description (RFC 6749 5.2).
      void reply
        .status(status)
        .headers(headers)
        .send({ error: code, error_description: description, error_reference: referenceOf(raw) });
    }
  }
}
