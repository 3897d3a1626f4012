import { Injectable } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { type OpenSession, SessionStore } from '#pages/session.store.js';
import type { Operator, OperatorIdentity, OperatorRequest, OperatorSession } from '../operator.js';
import type { Role } from '../role.js';

/** `ended`: all sessions of the user were ended after this login. */
export type CurrentRole = Role | 'ended' | null;

@Injectable()
export class OperatorRoles {
  constructor(private readonly operators: ConsoleOperatorStore) {}

  /** Reads a stored role again, so that a revocation takes effect immediately. @returns null without a role */
  async current({ subject, role, generation }: OperatorIdentity): Promise<CurrentRole> {
    if (role !== null) return role === 'none' ? null : role;
    const access = await this.operators.accessOf(subject);
    return access === null || access.sessionGeneration === generation ? (access?.role ?? null) : 'ended';
  }
}

@Injectable()
export class OperatorSessionsService {
  constructor(private readonly roles: OperatorRoles) {}

  /** @returns null if all sessions of the user were ended. @throws RefusedRequestError without a role */
  async operatorOf(session: OpenSession<OperatorSession>): Promise<Operator | null> {
    const { subject, name, role, generation, authTime, browser, formKey, formIdKey } = session;
    const identity = { subject, role, generation };
    const current = await this.roles.current(identity);
    if (current === 'ended') return null;
    if (current === null)
      throw new RefusedRequestError(403, 'you have no role in the console: ask an administrator for one', {
        detail: { check: 'console_role_missing', operator: name },
      });
    return { name, role: current, identity, authTime, browser, formKey, formIdKey };
  }
}

/** Sets the operator of a request without a route, for which no guard runs, so that the error page shows the menu. */
export function recognizeOperatorsWithoutRoute(app: NestFastifyApplication): void {
  const sessions = app.get<SessionStore<OperatorSession>>(SessionStore, { strict: false });
  const operators = app.get(OperatorSessionsService, { strict: false });
  const operatorOf = async (request: OperatorRequest): Promise<Operator | null> => {
    const session = await sessions.use(request);
    return session && operators.operatorOf(session);
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
