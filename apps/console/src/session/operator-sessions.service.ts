import { Inject, Injectable } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OperatorRoles } from './operator-roles.js';
import type { Operator, OperatorRequest } from '../operator.js';
import { ConsoleCookie, ConsoleDraftCookie } from './session.cookie.js';
import { type Session, SessionStore } from './session.store.js';

const MAX_SESSION_MS = 12 * 60 * 60_000;

interface OpenSession extends Session {
  readonly cookie: string;
}

@Injectable()
export class OperatorSessionsService {
  constructor(
    private readonly cookies: ConsoleCookie,
    private readonly draftCookies: ConsoleDraftCookie,
    private readonly sessions: SessionStore,
    private readonly roles: OperatorRoles,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Extends the session of a request. @returns null without a session, or twelve hours after its start */
  async use({ headers }: OperatorRequest): Promise<OpenSession | null> {
    const cookie = this.cookies.read(headers.cookie);
    const session = cookie === null ? null : await this.sessions.use(cookie);
    if (cookie === null || session === null || this.clock() - session.startedAt > MAX_SESSION_MS) return null;
    return { ...session, cookie };
  }

  /** @returns null if all sessions of the user were ended. @throws RefusedRequestError without a role */
  async operatorOf(
    { subject, name, role, generation, authTime, cookie }: OpenSession,
    { headers }: OperatorRequest,
  ): Promise<Operator | null> {
    const identity = { subject, role, generation };
    const current = await this.roles.current(identity);
    if (current === 'ended') return null;
    if (current === null)
      throw new RefusedRequestError(403, 'you have no role in the console any longer', {
        detail: { check: 'console_role_missing', operator: name },
      });
    return {
      name,
      role: current,
      identity,
      authTime,
      cookie,
      draftCookie: this.draftCookies.read(headers.cookie),
    };
  }
}

/** Sets the operator of a request without a route, for which no guard runs, so that the error page shows the menu. */
export function recognizeOperatorsWithoutRoute(app: NestFastifyApplication): void {
  const sessions = app.get(OperatorSessionsService, { strict: false });
  const operatorOf = async (request: OperatorRequest): Promise<Operator | null> => {
    const session = await sessions.use(request);
    return session && sessions.operatorOf(session, request);
  };
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('preHandler', async (request: OperatorRequest) => {
      if (!request.is404) return;
      // The page has no menu without a role, or if Redis or PostgreSQL does not answer.
      const operator = await operatorOf(request).catch(() => null);
      if (operator) request.operator = operator;
    });
}
