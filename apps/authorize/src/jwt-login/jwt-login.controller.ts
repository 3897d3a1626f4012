import { Body, Controller, Get, Header, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JWK } from 'jose';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { html } from '#ui/html.js';
import { RedirectableError } from '#oauth/redirectable.error.js';
import { ApiOperation } from '#openapi/operation.js';
import { type UserPage, UserPageResponder } from '../ui/user-page.responder.js';
import { afterLogin, rawQuery } from '../urls.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { ExternalLoginError, invalidResponse } from '../external-login/external-login.error.js';
import type { FormFields } from '../session/csrf.guard.js';
import { LoginCookie, SessionService } from '../session/session.service.js';
import { LanguageService, type Translator } from '../ui/i18n/language.service.js';
import { JwtLoginService } from './jwt-login.service.js';
import { LoginChallenges } from './login-challenge.js';
import { LOGIN_RETURN_OPERATION } from '../external-login/external-login.openapi.js';
import { LoginResponder } from '../external-login/external-login.controller.js';
import { JWT_LOGIN_OPERATION, LOGIN_KEYS_OPERATION } from './jwt-login.openapi.js';

const RESUBMITTED_FIELD = 'repeated';

/** Resubmits a form from another site, so that the browser adds the SameSite=Lax cookies of this site. */
function jwtLoginPage(translator: Translator, assertion: string): UserPage {
  return {
    translator,
    title: translator.text('login.title'),
    script: true,
    content: html`
      <h1>${translator.text('login.title')}</h1>
      <p>${translator.text('login.signed_jwt')}</p>
      <form method="post" action="${ENDPOINTS.loginCallback}" data-submits>
        <input type="hidden" name="assertion" value="${assertion}" />
        <input type="hidden" name="${RESUBMITTED_FIELD}" value="yes" />
        <button class="wide">${translator.text('error.button.continue')}</button>
      </form>
    `,
  };
}

/** Maximum length in characters. An assertion with a profile has about 1,000 characters. */
const MAX_ASSERTION = 16_000;

@Controller()
export class JwtLoginController {
  constructor(
    private readonly logins: JwtLoginService,
    private readonly challenges: LoginChallenges,
    private readonly loginCookie: LoginCookie,
    private readonly responder: LoginResponder,
    private readonly requests: AuthorizationRequestService,
    private readonly sessions: SessionService,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
  ) {}

  @Get(ENDPOINTS.loginKeys)
  @ApiOperation(LOGIN_KEYS_OPERATION)
  @Header('Content-Type', 'application/jwk-set+json')
  keys(): { readonly keys: readonly JWK[] } {
    return this.challenges.jwks;
  }

  /**
   * Receives a form, because URLs remain in browser histories and logs. Needs no CSRF token, because the challenge is
   * bound to this browser.
   */
  @Post(ENDPOINTS.loginCallback)
  @ApiOperation(JWT_LOGIN_OPERATION)
  async finish(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const { headers } = request;
    const { assertion } = fields;
    if (typeof assertion !== 'string' || assertion === '' || assertion.length > MAX_ASSERTION)
      throw invalidResponse(
        `the form must have one 'assertion' field of at most ${MAX_ASSERTION} characters`,
        'form',
        '',
      );
    // Browsers omit SameSite=Lax cookies from another site's form, but send them when our page resubmits the form.
    if (this.loginCookie.read(headers.cookie) === null && fields[RESUBMITTED_FIELD] === undefined)
      return this.pages.page(reply, 200, jwtLoginPage(this.language.translatorFor({ headers }), assertion));
    this.responder.finish(request, reply, await this.logins.finish(headers.cookie, assertion));
  }

  /** Reports the cancelled login to the application, like Cancel on the consent page (RFC 6749 4.1.2.1). */
  @Get(ENDPOINTS.loginCallback)
  @ApiOperation(LOGIN_RETURN_OPERATION)
  async cancel(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const parameters = new URLSearchParams(rawQuery(url));
    if (parameters.size === 0) return this.pages.seeOther(reply, ENDPOINTS.account);
    if (parameters.get('error') !== 'access_denied')
      throw invalidResponse(
        'return a login with a form (POST); a link may only carry error=access_denied and the challenge',
        'method',
        '',
      );
    const { query, cancelled } = await this.logins.cancel(headers.cookie, parameters.get('challenge'));
    if (!cancelled) return this.pages.seeOther(reply, afterLogin(query));
    const { session } = await this.sessions.findVisitor(headers.cookie);
    const request = await this.requests.validateOrNull(query, session);
    const error = new ExternalLoginError('login_cancelled.by_user', query);
    throw request ? new RedirectableError(error, request, request.client) : error;
  }
}
