import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserStore } from '#directory/user.store.js';
import { noteOutcome } from '#service/logging/request-outcome.js';
import { OAuthError } from '#service/oauth/oauth-error.js';
import { RedirectableError } from '#authorization/redirectable.error.js';
import { consentPage } from '../consent/consent.page.js';
import { ConsentService } from '../consent/consent.service.js';
import { loginAddress } from '../login/login-address.js';
import { PageResponder } from '../page/page.responder.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import { SessionService } from '../session/session.service.js';
import { AuthorizationRequestService } from './authorization-request.service.js';
import { AuthorizationResponse } from './authorization-response.js';
import type { IncomingRequest } from './incoming-request.js';
import { PushedRequestService } from './pushed-request.service.js';
import { rawQuery } from './raw-query.js';

/** The authorization endpoint (specification 4.1, RFC 6749 3.1). */
@Controller('auth/oauth2/authorize')
export class AuthorizeController {
  constructor(
    private readonly requests: AuthorizationRequestService,
    private readonly pushed: PushedRequestService,
    private readonly response: AuthorizationResponse,
    private readonly sessions: SessionService,
    private readonly users: UserStore,
    private readonly consent: ConsentService,
    private readonly forms: FormGuard,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  async ask(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const request = await this.requests.read(query);
    noteOutcome(raw, factsOf(request));
    const { cookie, session } = await this.sessions.recognise(headers.cookie);
    const user = session && (await this.users.find(session.userId));
    if (cookie !== null && user) {
      return this.pages.page(reply, 200, consentPage({ request, user, cookie, query }));
    }
    // A session of a user who is gone would lead back here from the login page, in a circle.
    if (cookie !== null && session) await this.sessions.end(cookie);
    this.pages.seeOther(reply, loginAddress(query));
  }

  @Post()
  async decide(
    @Req() { url, headers, raw }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: FormFields | undefined,
  ): Promise<void> {
    const fields = body ?? {};
    this.forms.check(headers, fields, 'consent');
    const query = rawQuery(url);
    const request = await this.requests.read(query);
    const { client } = request;
    const { session } = await this.sessions.recognise(headers.cookie);
    if (!session) return this.pages.seeOther(reply, loginAddress(query));
    switch (fields['decision']) {
      case 'allow': {
        const { userId } = session;
        const allow = () => this.consent.allow(request, userId);
        const { code, grantId } = await this.pushed.answer(request, allow);
        const facts = { ...factsOf(request), user_id: userId, grant: grantId };
        noteOutcome(raw, { ...facts, outcome: 'allowed' });
        return this.pages.seeOther(reply, this.response.code(request, code));
      }
      case 'deny': {
        await this.pushed.answer(request, async () => undefined);
        const denied = new OAuthError('access_denied', 400, 'the user denied the request', {
          detail: { check: 'decision', user_id: session.userId },
        });
        throw new RedirectableError(denied, request, client.clientId);
      }
      default:
        throw OAuthError.invalidRequest("the parameter 'decision' must be allow or deny", {
          detail: { check: 'decision', client_id: client.clientId },
        });
    }
  }
}

/** What the log says of a request; the id leads to the line of its push. */
function factsOf({ client, pushedId }: IncomingRequest): Record<string, string> {
  return { client_id: client.clientId, ...(pushedId !== null && { pushed_request: pushedId }) };
}
