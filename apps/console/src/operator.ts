import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#administration/operation.js';
import type { Role } from './role.js';

export interface OperatorIdentity {
  /** `sub` of the ID token. */
  readonly subject: string;
  /** Role from the groups at the login; null if the role is stored in PostgreSQL, where it may change at any time. */
  readonly role: Role | null;
  /** `User.sessionGeneration` at the login, if the role is stored in PostgreSQL; otherwise null. */
  readonly generation: number | null;
}

export interface Operator {
  readonly name: string;
  readonly role: Role;
  readonly identity: OperatorIdentity;
  readonly authTime: number;
  /** Session cookie, to which the CSRF tokens of forms are bound. */
  readonly cookie: string;
  /** Identifies the browser that sent a kept form, see `RecentLoginsService`. */
  readonly draftCookie: string | null;
}

export type OperatorRequest = FastifyRequest & { operator?: Operator };

export const CurrentOperator = createParamDecorator((_data: unknown, context: ExecutionContext): Operator => {
  const { operator } = context.switchToHttp().getRequest<OperatorRequest>();
  if (!operator) throw new Error('a public route has no operator');
  return operator;
});

export function actorOf({ name }: Pick<Operator, 'name'>): Actor {
  return { name, channel: 'page' };
}
