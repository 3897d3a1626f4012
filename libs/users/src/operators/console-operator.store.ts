import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type Repository } from 'typeorm';
import { deleteInvitationsOf, keepAnAdmin } from './console-operator.statements.js';
import type { ConsoleRole, LastAdminCondition } from './console-role.js';
import { ISOLATION_LEVEL } from '#grants/records/grant-record.statements.js';
import { UserEntity } from '../user.entity.js';
import { isUserId } from '../user.js';

export interface ConsoleOperator {
  readonly userId: number;
  readonly username: string;
  readonly email: string;
  readonly role: ConsoleRole;
  readonly disabledAt: Date | null;
}

export interface ConsoleAccess {
  readonly role: ConsoleRole;
  readonly sessionGeneration: number;
}

@Injectable()
export class ConsoleOperatorStore {
  private readonly users: Repository<UserEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /** @param subject `sub` of an ID token of this service @returns null unless this user has a role and is enabled */
  async accessOf(subject: string): Promise<ConsoleAccess | null> {
    if (!isUserId(subject)) return null;
    const user = await this.users.findOne({
      select: { id: true, consoleRole: true, sessionGeneration: true },
      where: { id: Number(subject), operatorDisabledAt: IsNull(), productDisabledAt: IsNull() },
    });
    if (!user || user.consoleRole === null) return null;
    return { role: user.consoleRole, sessionGeneration: user.sessionGeneration };
  }

  /** Returns null for a user without a role, or an unknown user. */
  async roleOf(id: number): Promise<ConsoleRole | null> {
    return (await this.users.findOne({ where: { id }, select: { consoleRole: true } }))?.consoleRole ?? null;
  }

  /**
   * Also deletes invitations of the user's address, which could restore the role later.
   * @param role null ends the role
   * @returns the role before the change; undefined if the user does not exist
   * @throws AdministrationError `confirmLastAdmin` unless another admin stays or the caller confirms
   */
  async setRole(
    id: number,
    role: ConsoleRole | null,
    { confirmLastAdmin = false, login }: LastAdminCondition = {},
  ): Promise<ConsoleRole | null | undefined> {
    return this.dataSource.transaction(ISOLATION_LEVEL, async (manager) => {
      if (role !== 'admin' && !confirmLastAdmin) await keepAnAdmin(manager, id, 'role', login);
      const user = await manager.findOne(UserEntity, {
        select: { id: true, consoleRole: true },
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (user && user.consoleRole !== role) await manager.update(UserEntity, { id }, { consoleRole: role });
      await deleteInvitationsOf(manager, id);
      return user?.consoleRole;
    });
  }

  countAdmins(): Promise<number> {
    return this.users.countBy({ consoleRole: 'admin', disabledAt: IsNull() });
  }

  async list(): Promise<ConsoleOperator[]> {
    const users = await this.users.find({
      select: { id: true, username: true, email: true, consoleRole: true, disabledAt: true },
      where: { consoleRole: Not(IsNull()) },
      order: { id: 'ASC' },
    });
    return users.flatMap(({ id: userId, username, email, consoleRole: role, disabledAt }) =>
      role === null ? [] : [{ userId, username, email, role, disabledAt }],
    );
  }
}
