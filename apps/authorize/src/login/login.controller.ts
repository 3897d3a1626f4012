import type { IncomingHttpHeaders } from 'node:http';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiOperation, type OperationDescription } from '#openapi/operation.js';
import { addAuditEvent } from '#audit/request-events.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { continues, CSRF_TOKEN, errorPages, formErrors, formOf, page, seeOther } from '../ui/page.openapi.js';
import { afterLogin, rawQuery } from '../urls.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { requiredInteraction } from '../consent/interaction.js';
import type { ValidatedRequest } from '../validated-request.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { FlashMessageStore } from '../session/flash-message.store.js';
import { SessionService, UserSessionCookie } from '../session/session.service.js';
import { LanguageService, type Translator } from '../ui/i18n/language.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { loginPage } from './login.page.js';
import { LoginService } from './login.service.js';
import { DeviceCookie } from './throttle/device-cookie.js';

// Password logins and external logins have separate controllers at this path; only one of them is registered.

export const LOGIN_OPERATION: OperationDescription = {
  id: 'login',
  tag: 'Pages',
  summary: 'The login page',
  description:
    "The query is the authorization request to continue, if any. Redirects to the product's login if users log in there.",
  responses: {
    200: page('The login page.'),
    303: seeOther("To the next page if a user is logged in; or to the product's login."),
    ...errorPages(400, 403),
  },
};

const SUBMIT_LOGIN_OPERATION: OperationDescription = {
  id: 'submitLogin',
  tag: 'Pages',
  summary: 'Submits the login page',
  form: formOf({ ...CSRF_TOKEN, username: 'Username or email address.', password: 'The password.' }, []),
  responses: {
    200: continues('To the next page, with the session.'),
    303: seeOther('To the next page: the user has logged in in another tab.'),
    ...formErrors(401),
  },
};

@Controller(ENDPOINTS.login)
export class LoginController {
  constructor(
    private readonly login: LoginService,
    private readonly requests: AuthorizationRequestService,
    private readonly sessions: SessionService,
    private readonly cookies: UserSessionCookie,
    private readonly devices: DeviceCookie,
    private readonly flashMessages: FlashMessageStore,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
  ) {}

  @Get()
  @ApiOperation(LOGIN_OPERATION)
  async show(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const { cookie: existing, session } = await this.sessions.findVisitor(headers.cookie);
    const request = await this.requests.validateOrNull(query, session);
    const needed = request && requiredInteraction(request, this.sessions.isLoginFor(session, query)).page;
    // Skips the page if there is a session, unless the request needs a new login. The next page validates the session.
    if (session && needed !== 'login') return this.pages.seeOther(reply, afterLogin(query));
    const cookie = existing ?? this.cookies.generate();
    if (existing === null) reply.header('Set-Cookie', this.cookies.set(cookie));
    const translator = this.translatorFor(headers, query, request);
    const username = request?.loginHint?.trim() || (request?.isOtherUser ? '' : request?.user?.email) || '';
    const flash = await this.flashMessages.consume(cookie, query);
    this.pages.page(reply, 200, loginPage({ translator, cookie, query, request, username, flash }));
  }

  @Post()
  @ApiOperation(SUBMIT_LOGIN_OPERATION)
  @ProtectForm('login')
  async submit(
    @Req() { url, headers, raw, ip }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const query = rawQuery(url);
    const result = await this.login.logIn(fields, { address: ip, cookies: headers.cookie, query });
    if ('user' in result) {
      const { user, session } = result;
      addLogContext(raw, { user_id: user.id, outcome: 'logged in' });
      addAuditEvent(raw, 'login.succeeded');
      reply.header('Set-Cookie', [
        this.cookies.set(session),
        this.devices.set(headers.cookie, user),
        ...this.language.remember(headers.cookie, user.locale),
      ]);
      const reader = { headers, query, user };
      return this.pages.redirect(reply, { location: afterLogin(query), reader });
    }
    addLogContext(raw, result.detail);
    const { status, problem, retryAfter } = result;
    if (retryAfter !== undefined) reply.header('Retry-After', String(retryAfter));
    const request = await this.requests.validateOrNull(query, null);
    const translator = this.translatorFor(headers, query, request);
    const cookie = this.cookies.read(headers.cookie) ?? this.cookies.generate();
    const username = typeof fields['username'] === 'string' ? fields['username'] : '';
    this.pages.page(reply, status, loginPage({ translator, cookie, query, request, username, problem }));
  }

  private translatorFor(
    headers: IncomingHttpHeaders,
    query: string,
    request: ValidatedRequest | null,
  ): Translator {
    const { uiLocales = null, user = null } = request ?? {};
    return this.language.translatorFor({ headers, query, uiLocales, user });
  }
}
