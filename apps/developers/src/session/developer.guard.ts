import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { DeveloperStore } from '#clients/owners/developer.store.js';
import { asDeveloper } from '#database/developer-data-source.js';
import { handleOf } from '#grants/token-codec.js';
import { FormCheck } from '#pages/form-check.js';
import { KeptFormsService } from '#pages/kept-forms.service.js';
import { RateLimits } from '#pages/rate-limit.js';
import { RecentLogins } from '#pages/recent-logins.js';
import { routeRules } from '#pages/route-rules.js';
import { type OpenSession, SessionStore } from '#pages/session.store.js';
import type { Developer, DeveloperRequest, DeveloperSession } from '../developer.js';

/** Checks the login, the origin and CSRF token of a form, and the age of the login, in this order. */
@Injectable()
export class DeveloperGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: SessionStore<DeveloperSession>,
    private readonly forms: FormCheck,
    private readonly keptForms: KeptFormsService,
    private readonly recentLogins: RecentLogins,
    private readonly limits: RateLimits,
    private readonly developers: DeveloperStore,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isPublic, needsRecentLogin } = routeRules(this.reflector, context);
    if (isPublic) return true;
    const request = context.switchToHttp().getRequest<DeveloperRequest>();
    const session = await this.sessions.use(request);
    if (session === null) throw await this.keptForms.loginRequired(context, 'first');
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    await this.limits.take('pages', request, reply, session.cookie);
    const developer = await this.recognize(request, session);
    if (developer === null) throw await this.keptForms.loginRequired(context, 'first');
    if (request.method !== 'GET') this.forms.check(request, developer);
    if (needsRecentLogin && !this.recentLogins.isRecent(developer))
      throw await this.keptForms.loginRequired(context, 'again');
    await this.keptForms.restore(request, developer);
    return true;
  }

  /** @returns null if the user has disconnected the portal, or is disabled */
  private async recognize(
    request: DeveloperRequest,
    session: OpenSession<DeveloperSession>,
  ): Promise<Developer | null> {
    const { name, browser, formKey, formIdKey, authTime, token, locale } = session;
    request.locale = locale;
    const handle = handleOf(token);
    const userId = handle && (await asDeveloper(handle, () => this.developers.current()));
    if (handle === null || userId === null) return null;
    const developer = { name, browser, formKey, formIdKey, authTime, userId, handle };
    Object.assign(request, { developer, account: developer });
    return developer;
  }
}
