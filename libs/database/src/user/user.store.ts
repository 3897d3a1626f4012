import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { createHash } from 'node:crypto';
import { DuplicateUserError, type Identity, type UniqueUserField, type User, USER_FIELDS } from './user.js';
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

/** What a login page verifies a password against. */
export interface Credentials {
  /** Null if there is no such user. */
  readonly user: User | null;
  /**
   * The user's hash, or, if there is no such user, always the same other user's, so that the duration does not reveal whether
   * an account exists: hashes of the product may cost more or less than ours. Null if none was found.
   */
  readonly passwordHash: string | null;
}

/** Users with a password are looked for among so many. */
const DECOYS = 50;

/** $1 is the login, $2 a number from 0 to 1. */
const credentialsBy = (column: 'email' | 'username'): string => `
  SELECT found."user", coalesce(found.password_hash, (
      SELECT password_hash FROM (
        SELECT password_hash FROM users
        WHERE id >= $2::float8 * (SELECT max(id) FROM users) AND found.password_hash IS NULL ORDER BY id LIMIT ${DECOYS}
      ) decoy WHERE password_hash IS NOT NULL LIMIT 1
    )) AS "passwordHash"
  FROM (SELECT) one LEFT JOIN LATERAL (
    SELECT password_hash, (SELECT row_to_json(account) FROM (SELECT ${USER_FIELDS}) account) AS "user"
    FROM users WHERE lower(${column}) = lower($1) AND password_hash IS NOT NULL
  ) found ON true`;
const CREDENTIALS = { email: credentialsBy('email'), username: credentialsBy('username') } as const;

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
    if (!isLogin(emailOrUsername)) return null;
    const column = emailOrUsername.includes('@') ? 'email' : 'username';
    const found = await this.users
      .createQueryBuilder('user')
      .where(`lower(user.${column}) = lower(:login) AND user.passwordHash IS NOT NULL`, {
        login: emailOrUsername,
      })
      .getOne();
    return found?.passwordHash ? { user: toUser(found), passwordHash: found.passwordHash } : null;
  }

  /** As `findByLogin`, with another user's hash if there is no such user; in one query as well. */
  async credentialsOf(emailOrUsername: string): Promise<Credentials> {
    const login = isLogin(emailOrUsername) ? emailOrUsername : '';
    const place = createHash('sha256').update(login.toLowerCase()).digest().readUInt32BE() / 2 ** 32;
    const statement = CREDENTIALS[login.includes('@') ? 'email' : 'username'];
    const [found] = await this.users.query<Credentials[]>(statement, [login, place]);
    return found ?? { user: null, passwordHash: null };
  }

  /**
   * Replaces the hash of a password that has just been verified.
   *
   * @returns false if the password has been changed in the meantime
   */
  async replacePasswordHash(id: number, verified: string, replacement: string): Promise<boolean> {
    const { affected } = await this.users.update(
      { id, passwordHash: verified },
      { passwordHash: replacement },
    );
    return affected === 1;
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

  /** Ends every session of the user of an identity. @returns the user's id; null if there is no such user */
  async endSessionsOf({ issuer, externalId }: Identity): Promise<number | null> {
    const [rows] = await this.users.query<[{ id: number }[], number]>(
      `UPDATE users SET session_generation = session_generation + 1 WHERE issuer = $1 AND external_id = $2
       RETURNING id`,
      [issuer, externalId],
    );
    return rows[0]?.id ?? null;
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

/** Not longer than any address (RFC 5321 4.5.3.1.3), and without a NUL, which PostgreSQL cannot store. */
const isLogin = (text: string): boolean => text.length <= 254 && !text.includes('\0');

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
