import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { addLogContext } from '#platform/logging/request-log.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { RateLimits } from '../request-limits/rate-limit.js';
import { mayActAs, type Role } from '../role.js';
import type { Operator, OperatorRequest } from '../operator.js';
import { FormCheck } from './form-check.js';
import { KeptFormsService } from './kept-forms.service.js';
import { OperatorSessionsService } from './operator-sessions.service.js';
import { RecentLogins } from './recent-logins.js';

const PUBLIC = Symbol('no login');
const ROLE = Symbol('required role');
const RECENT = Symbol('recent login');

export const Public = (): ClassDecorator & MethodDecorator => SetMetadata(PUBLIC, true);

/** Without this decorator, a route requires the role `viewer`. */
export const RequireRole = (role: Role): ClassDecorator & MethodDecorator => SetMetadata(ROLE, role);

/** Requires a login within the last ten minutes, for a dangerous step and for its confirmation page. */
export const RecentLogin = (): ClassDecorator & MethodDecorator => SetMetadata(RECENT, true);

/** Checks the login, the role, the origin and CSRF token of a form, and the age of the login, in this order. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: OperatorSessionsService,
    private readonly forms: FormCheck,
    private readonly keptForms: KeptFormsService,
    private readonly recentLogins: RecentLogins,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, route)) return true;
    const request = context.switchToHttp().getRequest<OperatorRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const operator = await this.operatorOf(request, reply);
    if (operator === null) throw await this.keptForms.loginRequired(context, 'first');
    // Set before the following checks, because the error page shows the menu of the operator.
    request.operator = operator;
    addLogContext(request.raw, { operator: operator.name, channel: 'page' });
    const required = this.reflector.getAllAndOverride<Role | undefined>(ROLE, route) ?? 'viewer';
    if (!mayActAs(operator.role, required))
      throw new RefusedRequestError(403, `this needs the role ${required}, and yours is ${operator.role}`, {
        detail: { check: 'console_role_missing', sent: operator.role, expected: required },
      });
    if (request.method !== 'GET') this.forms.check(request, operator);
    const needsRecent = this.reflector.getAllAndOverride<boolean | undefined>(RECENT, route) ?? false;
    if (needsRecent && !this.recentLogins.isRecent(operator))
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
    return this.sessions.operatorOf(session);
  }
}
