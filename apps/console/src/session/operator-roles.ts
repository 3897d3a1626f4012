import { Injectable } from '@nestjs/common';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import type { OperatorIdentity } from '../operator.js';
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
