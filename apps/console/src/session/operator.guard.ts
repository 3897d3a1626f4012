import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { addLogContext } from '#platform/logging/request-log.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { RateLimits } from '#pages/rate-limit.js';
import { mayActAs, type Role } from '../role.js';
import type { Operator, OperatorRequest, OperatorSession } from '../operator.js';
import { FormCheck } from '#pages/form-check.js';
import { KeptFormsService } from '#pages/kept-forms.service.js';
import { routeRules } from '#pages/route-rules.js';
import { SessionStore } from '#pages/session.store.js';
import { OperatorSessionsService } from './operator-sessions.service.js';
import { RecentLogins } from '#pages/recent-logins.js';

const ROLE = Symbol('required role');

/** Without this decorator, a route requires the role `viewer`. */
export const RequireRole = (role: Role): ClassDecorator & MethodDecorator => SetMetadata(ROLE, role);

/** Checks the login, the role, the origin and CSRF token of a form, and the age of the login, in this order. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: SessionStore<OperatorSession>,
    private readonly operators: OperatorSessionsService,
    private readonly forms: FormCheck,
    private readonly keptForms: KeptFormsService,
    private readonly recentLogins: RecentLogins,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isPublic, needsRecentLogin } = routeRules(this.reflector, context);
    if (isPublic) return true;
    const request = context.switchToHttp().getRequest<OperatorRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const operator = await this.operatorOf(request, reply);
    if (operator === null) throw await this.keptForms.loginRequired(context, 'first');
    // Set before the following checks, because the error page shows the menu of the operator.
    request.operator = operator;
    addLogContext(request.raw, { operator: operator.name, channel: 'page' });
    const route = [context.getHandler(), context.getClass()];
    const required = this.reflector.getAllAndOverride<Role | undefined>(ROLE, route) ?? 'viewer';
    if (!mayActAs(operator.role, required))
      throw new RefusedRequestError(403, `this needs the role ${required}, and yours is ${operator.role}`, {
        detail: { check: 'console_role_missing', sent: operator.role, expected: required },
      });
    if (request.method !== 'GET') this.forms.check(request, operator);
    if (needsRecentLogin && !this.recentLogins.isRecent(operator))
      throw await this.keptForms.loginRequired(context, 'again');
    await this.keptForms.restore(request, operator);
    return true;
  }

  /** @returns null without a session */
  private async operatorOf(request: OperatorRequest, reply: FastifyReply): Promise<Operator | null> {
    const session = await this.sessions.use(request);
    if (session === null) return null;
    await this.limits.take('pages', request, reply, session.cookie);
    request.account = session;
    return this.operators.operatorOf(session);
  }
}
