import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { OperatorRequest } from '../operator.js';
import { RateLimits } from '../request-limits/rate-limit.js';
import { FormCheck } from '../session/form-check.js';
import { OperatorSessionsService } from '../session/operator-sessions.service.js';

/** Admits a log-out from a page of the console, also of a user without a role, or without a session. */
@Injectable()
export class LogoutGuard implements CanActivate {
  constructor(
    private readonly sessions: OperatorSessionsService,
    private readonly forms: FormCheck,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<OperatorRequest>();
    this.forms.checkOrigin(request.headers);
    const session = await this.sessions.use(request);
    if (session === null) return true;
    await this.limits.take(
      'pages',
      request,
      context.switchToHttp().getResponse<FastifyReply>(),
      session.cookie,
    );
    this.forms.check(request, session);
    request.account = session;
    return true;
  }
}
