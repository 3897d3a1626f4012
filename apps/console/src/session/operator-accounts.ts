import { type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { addLogContext } from '#platform/logging/request-log.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { Accounts } from '#pages/account.guard.js';
import type { OpenSession } from '#pages/session.store.js';
import { mayActAs, type Role } from '../role.js';
import type { Operator, OperatorRequest, OperatorSession } from '../operator.js';
import { OperatorSessionsService } from './operator-sessions.service.js';

const ROLE = Symbol('required role');

/** Without this decorator, a route requires the role `viewer`. */
export const RequireRole = (role: Role): ClassDecorator & MethodDecorator => SetMetadata(ROLE, role);

@Injectable()
export class OperatorAccounts extends Accounts {
  constructor(
    private readonly reflector: Reflector,
    private readonly operators: OperatorSessionsService,
  ) {
    super();
  }

  async recognize(
    context: ExecutionContext,
    session: OpenSession<OperatorSession>,
  ): Promise<Operator | null> {
    const request = context.switchToHttp().getRequest<OperatorRequest>();
    request.account = session;
    const operator = await this.operators.operatorOf(session);
    if (operator === null) return null;
    // Set before the following checks, because the error page shows the menu of the operator.
    request.operator = operator;
    addLogContext(request.raw, { operator: operator.name, channel: 'page' });
    const route = [context.getHandler(), context.getClass()];
    const required = this.reflector.getAllAndOverride<Role | undefined>(ROLE, route) ?? 'viewer';
    if (mayActAs(operator.role, required)) return operator;
    throw new RefusedRequestError(403, `this needs the role ${required}, and yours is ${operator.role}`, {
      detail: { check: 'console_role_missing', sent: operator.role, expected: required },
    });
  }
}
