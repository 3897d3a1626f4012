import { Injectable } from '@nestjs/common';
import { ConsoleOperatorStore } from '#database/user/console-operator.store.js';
import type { Role } from '../login/role.js';
import type { Session } from './session.store.js';

/** Part of a session that determines the role. */
export type OperatorIdentity = Pick<Session, 'subject' | 'role'>;

@Injectable()
export class OperatorRoles {
  constructor(private readonly operators: ConsoleOperatorStore) {}

  /** Reads a role that is stored here, so that a revoked role ends immediately. @returns null without a role */
  async current({ subject, role }: OperatorIdentity): Promise<Role | null> {
    return role ?? (await this.operators.roleOf(subject));
  }
}
