import type { IncomingHttpHeaders } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { addLogContext } from '#platform/logging/request-log.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import { CSRF_FIELD, isCsrfToken } from '#ui/browser-cookie.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import { RateLimits } from '../request-limits/rate-limit.js';
import { mayActAs, type Role } from '../role.js';
import { Form } from '../form.js';
import { LoginRequiredError } from './login-required.error.js';
import { OperatorSessionsService } from './operator-sessions.service.js';
import type { OperatorRequest } from '../operator.js';
import { RecentLoginsService } from './recent-logins.service.js';

const PUBLIC = Symbol('no login');
const ROLE = Symbol('required role');
const RECENT = Symbol('recent login');

export const Public = (): ClassDecorator & MethodDecorator => SetMetadata(PUBLIC, true);

/** Without this decorator, a route requires the role `viewer`. */
export const RequireRole = (role: Role): ClassDecorator & MethodDecorator => SetMetadata(ROLE, role);

interface RecentLoginOptions {
  /**
   * Keeps a submitted form during the login. A page at the same path must then show the form (`RecentLoginsService`).
   */
  readonly keepsForm: boolean;
}

/** Requires a login within the last ten minutes, for a dangerous step and for its confirmation page. */
export const RecentLogin = (options: RecentLoginOptions = { keepsForm: false }): MethodDecorator =>
  SetMetadata(RECENT, options);

/** Checks the login, the role, the origin and CSRF token of a form, and the age of the login, in this order. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: OperatorSessionsService,
    private readonly configuration: ConsoleConfiguration,
    private readonly recentLogins: RecentLoginsService,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, route)) return true;
    const request = context.switchToHttp().getRequest<OperatorRequest>();
    const { method, url, body } = request;
    const session = await this.sessions.use(request);
    if (session === null) throw new LoginRequiredError(method === 'GET' ? url : '/', 'first');
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    await this.limits.take('pages', request, reply, session.cookie);
    const operator = await this.sessions.operatorOf(session, request);
    if (operator === null) throw new LoginRequiredError(method === 'GET' ? url : '/', 'first');
    // Set before the following checks, because the error page shows the menu of the operator.
    request.operator = operator;
    addLogContext(request.raw, { operator: operator.name, channel: 'page' });
    const required = this.reflector.getAllAndOverride<Role | undefined>(ROLE, route) ?? 'viewer';
    if (!mayActAs(operator.role, required))
      throw new RefusedRequestError(403, `this needs the role ${required}, and yours is ${operator.role}`, {
        detail: { check: 'console_role_missing', sent: operator.role, expected: required },
      });
    if (method !== 'GET') this.checkForm(request, operator.cookie);
    const recent = this.reflector.getAllAndOverride<RecentLoginOptions | undefined>(RECENT, route);
    if (recent) {
      const form = recent.keepsForm && body instanceof Form ? body : undefined;
      await this.recentLogins.require(operator, method === 'GET' ? url : pageOf(url), form);
    }
    return true;
  }

  private checkForm({ url, headers, body }: OperatorRequest, cookie: string): void {
    this.checkOrigin(headers);
    if (!(body instanceof Form) || !isCsrfToken(body.get(CSRF_FIELD), cookie, pageOf(url)))
      throw new RefusedRequestError(403, 'the form is out of date: open its page again');
  }

  /** If a browser sends neither header, only the CSRF token protects the form. */
  private checkOrigin({ 'sec-fetch-site': site, origin }: IncomingHttpHeaders): void {
    const foreignSite = site !== undefined && site !== 'same-origin';
    // Accepts "null", which browsers send with every form because of our Referrer-Policy, no-referrer.
    const foreignOrigin =
      origin !== undefined && origin !== 'null' && origin !== this.configuration.CONSOLE_URL;
    if (foreignSite || foreignOrigin) throw new RefusedRequestError(403, 'the form was sent by another site');
  }
}

function pageOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path;
}
