import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
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

/** Password hashes that a login page verifies a password against. */
export interface Credentials {
  /** Null if there is no such user. */
  readonly user: User | null;
  /** Null if there is no such user. */
  readonly passwordHash: string | null;
  /** Hashes of other users, one of each other kind. Verified as well, so that the work reveals neither the user nor the hash. */
  readonly others: readonly string[];
}

/** Kinds of hashes that one login verifies at most. A product has one or two: its own algorithm and cost, and ours. */
export const MAX_PASSWORD_KINDS = 8;

/** SQL: algorithm and cost of a password hash, of bcrypt the cost alone. The expression of the index `users_password_kind`. */
const PASSWORD_KIND = `substring(password_hash from '^[$](?:2.[$])?((?:argon2[^$]+[$](?:v=[^$]+[$])?)?[^$]+)') COLLATE "C"`;

/** SQL: the first hash of the next kind. */
const nextKind = (condition: string): string => `
  SELECT ${PASSWORD_KIND} AS kind, password_hash FROM users
  WHERE password_hash IS NOT NULL AND ${PASSWORD_KIND} ${condition} ORDER BY ${PASSWORD_KIND} LIMIT 1`;

/** $1 is the login. */
const credentialsBy = (column: 'email' | 'username'): string => `
  WITH RECURSIVE kinds AS (
    (${nextKind("> ''")})
    UNION ALL SELECT next.kind, next.password_hash FROM kinds, LATERAL (${nextKind('> kinds.kind')}) next
  )
  SELECT found."user", found.password_hash AS "passwordHash", ARRAY(
      SELECT kinds.password_hash FROM kinds WHERE kinds.kind IS DISTINCT FROM found.kind
      LIMIT ${MAX_PASSWORD_KINDS} - (found.kind IS NOT NULL)::integer
    ) AS others
  FROM (SELECT) one LEFT JOIN LATERAL (
    SELECT password_hash, ${PASSWORD_KIND} AS kind, (SELECT row_to_json(account) FROM (SELECT ${USER_FIELDS}) account) AS "user"
    FROM users WHERE lower(${column}) = lower($1) AND password_hash IS NOT NULL
  ) found ON true`;
const CREDENTIALS = { email: credentialsBy('email'), username: credentialsBy('username') } as const;

/** A user as `/v2/me` shows them. */
export interface PublicProfile extends Omit<
  User,
  | 'username'
  | 'email'
  | 'emailVerified'
  | 'issuer'
  | 'externalId'
  | 'locale'
  | 'sessionGeneration'
  | 'disabled'
> {
  /** Null if another user owns it, or if it may be an email that is not this user's verified one. */
  readonly username: string | null;
  /** Null if it is not verified. */
  readonly email: string | null;
}

/** SQL: users who log in here by email or username, which are unique among them. */
const hasLogin = (user: string): string => `(${user}.password_hash IS NOT NULL OR ${user}.issuer IS NULL)`;

/**
 * Applications may match users by email or username, though only `id` identifies a user (OpenID Connect Core 5.7): neither may be
 * an unproven claim. A username belongs to the user who logs in with it, else to the oldest user who has it.
 */
const PROFILE = `
  SELECT id, CASE WHEN (username !~ '.@.' OR email_verified AND lower(username COLLATE "C") = lower(email COLLATE "C")) AND NOT EXISTS (
      SELECT FROM users other
      WHERE lower(other.username) = lower(u.username) AND other.id <> u.id
        AND (${hasLogin('other')} OR NOT ${hasLogin('u')} AND other.id < u.id)
    ) THEN username END AS username,
    CASE WHEN email_verified THEN email END AS email, name, avatar_url AS "avatarUrl", bio, time_format AS "timeFormat",
    default_schedule_id AS "defaultScheduleId", week_start AS "weekStart", time_zone AS "timeZone",
    organization_id AS "organizationId"
  FROM users u WHERE id = $1`;

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

  /** Finds a user as `findByLogin` does, and hashes of other users, in one query. */
  async credentialsOf(emailOrUsername: string): Promise<Credentials> {
    const login = isLogin(emailOrUsername) ? emailOrUsername : '';
    const statement = CREDENTIALS[login.includes('@') ? 'email' : 'username'];
    const [found] = await this.users.query<Credentials[]>(statement, [login]);
    return found ?? { user: null, passwordHash: null, others: [] };
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

  /** Lists its fields, so that a new column of the table stays private. Null if the user does not exist. */
  async profile(id: number): Promise<PublicProfile | null> {
    const [found] = await this.users.query<PublicProfile[]>(PROFILE, [id]);
    return found ?? null;
  }

  /**
   * Creates a user for whose email the caller vouches.
   *
   * @throws DuplicateUserError naming the fields that another user has
   */
  async create(user: NewUser): Promise<User> {
    const created = this.users.create({ ...user, emailVerified: true });
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
    emailVerified: entity.emailVerified,
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
    disabled: (entity.operatorDisabledAt ?? entity.productDisabledAt ?? null) !== null,
  };
}
