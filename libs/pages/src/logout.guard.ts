import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { PageRequest } from './account.js';
import { FormCheck } from './form-check.js';
import { RateLimits } from './rate-limit.js';
import { type Session, SessionStore } from './session.store.js';

/** Admits a log-out from a page of this app, also of a user without a role, or without a session. */
@Injectable()
export class LogoutGuard implements CanActivate {
  constructor(
    private readonly sessions: SessionStore<Session>,
    private readonly forms: FormCheck,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<PageRequest>();
    this.forms.checkOrigin(request.headers);
    const session = await this.sessions.use(request);
    if (session === null) return true;
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    await this.limits.take('pages', request, reply, session.cookie);
    this.forms.check(request, session);
    request.account = session;
    return true;
  }
}
