import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type Repository } from 'typeorm';
import { ConsoleOperatorEntity, type ConsoleRole } from './console-operator.entity.js';

export type ConsoleOperator = Readonly<{
  userId: number;
  username: string;
  email: string;
  role: ConsoleRole;
  grantedAt: Date;
}>;

/** Roles of users in the console. */
@Injectable()
export class ConsoleOperatorStore {
  private readonly operators: Repository<ConsoleOperatorEntity>;

  constructor(dataSource: DataSource) {
    this.operators = dataSource.getRepository(ConsoleOperatorEntity);
  }

  /** @param subject `sub` of an ID token of this service. @returns null without a role, and for a disabled user */
  async roleOf(subject: string): Promise<ConsoleRole | null> {
    if (!/^[1-9]\d{0,8}$/.test(subject)) return null;
    const user = { operatorDisabledAt: IsNull(), productDisabledAt: IsNull() };
    const found = await this.operators.findOne({ where: { userId: Number(subject), user } });
    return found?.role ?? null;
  }

  /** Replaces an earlier role. */
  async grant(userId: number, role: ConsoleRole): Promise<void> {
    await this.operators.upsert({ userId, role, grantedAt: new Date() }, ['userId']);
  }

  /** @returns false if the user had no role */
  async revoke(userId: number): Promise<boolean> {
    return (await this.operators.delete({ userId })).affected === 1;
  }

  async list(): Promise<ConsoleOperator[]> {
    const found = await this.operators.find({ relations: { user: true }, order: { userId: 'ASC' } });
    return found.map(({ userId, role, grantedAt, user: { username, email } }) => ({
      userId,
      username,
      email,
      role,
      grantedAt,
    }));
  }
}
