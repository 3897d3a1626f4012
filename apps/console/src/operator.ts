import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Actor } from '#operations/audit-trail.js';
import type { Account, PageRequest } from '#pages/account.js';
import type { Session } from '#pages/session.store.js';
import type { Role } from './role.js';

export interface OperatorIdentity {
  /** `sub` of the ID token. */
  readonly subject: string;
  /**
   * Role from the groups at the login, `none` without one; null if the role is stored in PostgreSQL, where it may
   * change at any time.
   */
  readonly role: Role | 'none' | null;
  /** `User.sessionGeneration` at the login, if the role is stored in PostgreSQL; otherwise null. */
  readonly generation: number | null;
}

export interface Operator extends Account {
  readonly role: Role;
  readonly identity: OperatorIdentity;
  readonly authTime: number;
}

export interface OperatorSession extends Session, OperatorIdentity {}

/** A user with an account but without an operator has no role. */
export type OperatorRequest = PageRequest & { operator?: Operator };

export const CurrentOperator = createParamDecorator((_data: unknown, context: ExecutionContext): Operator => {
  const { operator } = context.switchToHttp().getRequest<OperatorRequest>();
  if (!operator) throw new Error('a public route has no operator');
  return operator;
});

export function actorOf({
  name,
  role = null,
}: Pick<Operator, 'name'> & { readonly role?: Role | null }): Actor {
  return { name, channel: 'page', role };
}
