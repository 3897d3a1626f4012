import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import type { Account, PageRequest } from './account.js';
import { FormCheck } from './form-check.js';
import { KeptFormsService } from './kept-forms.service.js';
import { RateLimits } from './rate-limit.js';
import { RecentLogins } from './recent-logins.js';
import { routeRules } from './route-rules.js';
import { type OpenSession, type Session, SessionStore } from './session.store.js';

/** Each app recognizes its users. */
export abstract class Accounts {
  /**
   * Adds the user to the request.
   * @returns null if the user must log in again
   * @throws RefusedRequestError without the right to the route
   */
  abstract recognize(
    context: ExecutionContext,
    session: OpenSession<Session>,
  ): Promise<(Account & { readonly authTime: number }) | null>;
}

/**
 * Checks the login, the right to the route, the origin and CSRF token of a form, and the age of the login, in this
 * order.
 */
@Injectable()
export class AccountGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: SessionStore<Session>,
    private readonly limits: RateLimits,
    private readonly accounts: Accounts,
    private readonly forms: FormCheck,
    private readonly recentLogins: RecentLogins,
    private readonly keptForms: KeptFormsService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isPublic, needsRecentLogin } = routeRules(this.reflector, context);
    if (isPublic) return true;
    const request = context.switchToHttp().getRequest<PageRequest>();
    const session = await this.sessions.use(request);
    if (session === null) throw await this.keptForms.loginRequired(context, 'first');
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    await this.limits.take('pages', request, reply, session.cookie);
    const account = await this.accounts.recognize(context, session);
    if (account === null) throw await this.keptForms.loginRequired(context, 'first');
    if (request.method !== 'GET') this.forms.check(request, account);
    if (needsRecentLogin && !this.recentLogins.isRecent(account))
      throw await this.keptForms.loginRequired(context, 'again');
    await this.keptForms.restore(request, account);
    return true;
  }
}
