import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type Repository } from 'typeorm';
import type { ConsoleRole } from './console-role.js';
import { UserEntity } from './user.entity.js';

export interface ConsoleOperator {
  readonly userId: number;
  readonly username: string;
  readonly email: string;
  readonly role: ConsoleRole;
}

export interface ConsoleAccess {
  readonly role: ConsoleRole;
  readonly sessionGeneration: number;
}

@Injectable()
export class ConsoleOperatorStore {
  private readonly users: Repository<UserEntity>;

  constructor(dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /** @param subject `sub` of an ID token of this service @returns null unless this user has a role and is enabled */
  async accessOf(subject: string): Promise<ConsoleAccess | null> {
    if (!/^[1-9]\d{0,8}$/.test(subject)) return null;
    const user = await this.users.findOne({
      select: { id: true, consoleRole: true, sessionGeneration: true },
      where: { id: Number(subject), operatorDisabledAt: IsNull(), productDisabledAt: IsNull() },
    });
    if (!user || user.consoleRole === null) return null;
    return { role: user.consoleRole, sessionGeneration: user.sessionGeneration };
  }

  /** Also returns true for a disabled user with a role. */
  hasRole(id: number): Promise<boolean> {
    return this.users.existsBy({ id, consoleRole: Not(IsNull()) });
  }

  /** Replaces any existing role. @returns false if the user does not exist */
  async grant(id: number, consoleRole: ConsoleRole): Promise<boolean> {
    return (await this.users.update({ id }, { consoleRole })).affected === 1;
  }

  async revoke(id: number): Promise<boolean> {
    const { affected } = await this.users.update({ id, consoleRole: Not(IsNull()) }, { consoleRole: null });
    return affected === 1;
  }

  async list(): Promise<ConsoleOperator[]> {
    const users = await this.users.find({
      select: { id: true, username: true, email: true, consoleRole: true },
      where: { consoleRole: Not(IsNull()) },
      order: { id: 'ASC' },
    });
    return users.flatMap(({ id: userId, username, email, consoleRole: role }) =>
      role === null ? [] : [{ userId, username, email, role }],
    );
  }
}
