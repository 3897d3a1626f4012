import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#operations/audit-trail.js';
import type { Form } from './form.js';
import type { Role } from './role.js';

export interface OperatorIdentity {
  /** `sub` of the ID token. */
  readonly subject: string;
  /**
   * Role from the groups at the login, `none` without one; null if the role is stored in PostgreSQL, where it may change
   * at any time.
   */
  readonly role: Role | 'none' | null;
  /** `User.sessionGeneration` at the login, if the role is stored in PostgreSQL; otherwise null. */
  readonly generation: number | null;
}

export interface Operator extends Account {
  readonly role: Role;
  readonly identity: OperatorIdentity;
  readonly authTime: number;
  /** Value of the `BrowserCookie`. */
  readonly browser: string;
}

/** A logged-in user, who may have no role. */
export interface Account {
  readonly name: string;
  /** Key of the CSRF tokens for this user in this browser. Another login of the user does not change it. */
  readonly formKey: string;
  /** Key of the form ids in this browser, also for other users (`BrowserCookie.formIdKey`). */
  readonly formIdKey: string;
}

export type OperatorRequest = FastifyRequest & {
  account?: Account;
  operator?: Operator;
  keptForm?: Form | null;
};

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
