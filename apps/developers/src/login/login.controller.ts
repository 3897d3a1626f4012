import { Controller, Get, type HttpRedirectResponse, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { BrowserLoginService } from '#pages/browser-login.service.js';
import { LogoutGuard } from '#pages/logout.guard.js';
import { OpenIdLogin } from '#pages/openid-login.js';
import { forwardPage, type Page, seeOther } from '#pages/page.responder.js';
import { Public } from '#pages/route-rules.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { html } from '#ui/html.js';
import type { DeveloperRequest, DeveloperSession } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';

@Controller()
export class LoginController {
  constructor(
    private readonly browsers: BrowserLoginService<DeveloperSession>,
    private readonly logins: OpenIdLogin,
    private readonly languages: Languages,
  ) {}

  /** Opens the login from a page, because a form may have led here. */
  @Get('login')
  @Public()
  async start(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const translator = this.languages.translatorFor(request);
    const provider = await this.browsers.start(request, reply);
    return forwardPage(translator.text('login.title'), provider, translator.text('login.continue'));
  }

  @Get('login/callback')
  @Public()
  async finish(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    const { session, accessToken: token, claims, page } = await this.browsers.finish(request, reply);
    const { locale = null } = claims as { readonly locale?: string };
    await this.revoke(await this.browsers.open(request, reply, { ...session, token, locale }));
    addLogContext(request.raw, { outcome: 'developer logged in' });
    return seeOther(page);
  }

  /** Ends the session and its grant here first, and then the session at the provider. */
  @Post('logout')
  @Public()
  @UseGuards(LogoutGuard)
  async logout(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const session = await this.browsers.end(request, reply);
    await this.revoke(session);
    const provider = session && (await this.logins.logoutUrl(session.idToken));
    if (!provider) return this.loggedOut(request);
    const translator = this.languages.translatorFor(request);
    return forwardPage(translator.text('logout.title'), provider, translator.text('logout.continue'));
  }

  /** The provider returns here after the log-out. */
  @Get('logged-out')
  @Public()
  loggedOut(@Req() request: DeveloperRequest): Page {
    const translator = this.languages.translatorFor(request);
    return {
      title: translator.text('logout.title'),
      menu: false,
      content: html`<p><a class="button" href="/">${translator.text('logout.again')}</a></p>`,
    };
  }

  /** The grant identifies the user to the database, so it ends with the session. */
  private async revoke(session: DeveloperSession | null): Promise<void> {
    if (session) await this.logins.revoke(session.token);
  }
}
