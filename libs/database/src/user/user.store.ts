import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { DuplicateUserError, type UniqueUserField, type User } from './user.js';
import { UserEntity } from './user.entity.js';
import { violatedConstraint } from '../connection/errors.js';

export interface NewUser {
  email: string;
  username: string;
  name: string;
  /** IANA name; UTC if absent. */
  timeZone?: string;
  /** One of `LOCALES`; null or absent if none was chosen. */
  locale?: string | null;
  /** argon2id, by `hashPassword`. */
  passwordHash: string;
}

/** The users of the scheduling product. */
@Injectable()
export class UserStore {
  private readonly users: Repository<UserEntity>;

  constructor(dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /**
   * Finds a user with a password by email or username, case-insensitively, in one query. A username that has an '@' is the
   * user's own email.
   */
  async findByLogin(emailOrUsername: string): Promise<{ user: User; passwordHash: string } | null> {
    // Longer than any address (RFC 5321 4.5.3.1.3), or with a NUL, which PostgreSQL cannot store.
    if (emailOrUsername.length > 254 || emailOrUsername.includes('\0')) return null;
    const column = emailOrUsername.includes('@') ? 'email' : 'username';
    const found = await this.users
      .createQueryBuilder('user')
      .where(`lower(user.${column}) = lower(:login) AND user.passwordHash IS NOT NULL`, {
        login: emailOrUsername,
      })
      .getOne();
    return found?.passwordHash ? { user: toUser(found), passwordHash: found.passwordHash } : null;
  }

  async find(id: number): Promise<User | null> {
    const found = await this.users.findOneBy({ id });
    return found && toUser(found);
  }

  /** @throws DuplicateUserError naming the fields that another user has */
  async create(user: NewUser): Promise<User> {
    const created = this.users.create(user);
    try {
      await this.users.insert(created);
    } catch (error) {
      const constraint = violatedConstraint(error);
      if (!constraint?.startsWith('users_')) throw error;
      throw new DuplicateUserError(await this.takenFields(user, constraint));
    }
    return toUser(created);
  }

  /**
   * Sets the language of the pages.
   *
   * @param locale one of `LOCALES`, or null for the browser's
   * @returns false if there is no such user
   */
  async setLocale(id: number, locale: string | null): Promise<boolean> {
    const { affected } = await this.users.update({ id }, { locale });
    return affected === 1;
  }

  /** Ends every session of the user. @returns the new session generation */
  async endSessions(id: number): Promise<number> {
    const [rows] = await this.users.query<[{ generation: number }[], number]>(
      `UPDATE users SET session_generation = session_generation + 1 WHERE id = $1
       RETURNING session_generation AS generation`,
      [id],
    );
    const [row] = rows;
    if (!row) throw new Error(`there is no user ${id}`);
    return row.generation;
  }

  /** PostgreSQL reports the first violated index only; the operator should see every problem at once. */
  private async takenFields({ email, username }: NewUser, constraint: string): Promise<UniqueUserField[]> {
    const [byEmail, byUsername] = await Promise.all([this.findByLogin(email), this.findByLogin(username)]);
    const taken: UniqueUserField[] = [];
    if (byEmail || constraint === 'users_email_unique') taken.push('email');
    if (byUsername || constraint === 'users_username_unique') taken.push('username');
    return taken;
  }
}

export function toUser(entity: UserEntity): User {
  return {
    id: entity.id,
    username: entity.username,
    email: entity.email,
    name: entity.name,
    // After an insert TypeORM leaves absent columns undefined.
    avatarUrl: entity.avatarUrl ?? null,
    bio: entity.bio ?? null,
    timeFormat: entity.timeFormat,
    defaultScheduleId: entity.defaultScheduleId ?? null,
    weekStart: entity.weekStart,
    timeZone: entity.timeZone,
    organizationId: entity.organizationId ?? null,
    issuer: entity.issuer ?? null,
    externalId: entity.externalId ?? null,
    locale: entity.locale ?? null,
    sessionGeneration: entity.sessionGeneration,
    disabled: (entity.disabledAt ?? null) !== null,
  };
}
