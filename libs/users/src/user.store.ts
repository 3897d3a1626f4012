import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { DuplicateUserError, type Identity, type UniqueUserField, type User, USER_FIELDS } from './user.js';
import { UserEntity } from './user.entity.js';
import type { ClaimName, UserClaims } from '#oauth/openid/claims.js';
import { violatedConstraint } from '#platform/postgres/postgres-errors.js';

export interface NewUser {
  email: string;
  username: string;
  name: string;
  /** IANA name; UTC by default. */
  timeZone?: string;
  locale?: string | null;
  passwordHash: string;
}

export interface Credentials {
  /** Null if no user with a password has this login. */
  readonly user: User | null;
  readonly passwordHash: string | null;
  /** Hashes of the other kinds, verified as well, so that timing reveals neither the kind nor whether a user exists. */
  readonly others: readonly { readonly userId: number; readonly passwordHash: string }[];
}

/** Limits the hashes verified by one login. Users usually have one or two kinds: the product's, and this service's. */
export const MAX_PASSWORD_KINDS = 8;

/** SQL: algorithm and cost of a hash (for bcrypt only the cost). The index `users_password_kind` repeats this SQL. */
const PASSWORD_KIND = `substring(password_hash from '^[$](?:2.[$])?((?:(?:argon2|pbkdf2|scrypt)[^$]*[$](?:v=[^$]+[$])?)?[^$]+)') COLLATE "C"`;

const nextKind = (condition: string): string => `
  SELECT ${PASSWORD_KIND} AS kind, id, password_hash FROM users
  WHERE password_hash IS NOT NULL AND ${PASSWORD_KIND} ${condition} ORDER BY ${PASSWORD_KIND} LIMIT 1`;

const credentialsBy = (column: 'email' | 'username'): string => `
  WITH RECURSIVE kinds AS (
    (${nextKind("> ''")})
    UNION ALL SELECT next.* FROM kinds, LATERAL (${nextKind('> kinds.kind')}) next
  )
  SELECT found."user", found.password_hash AS "passwordHash", ARRAY(
      SELECT json_build_object('userId', kinds.id, 'passwordHash', kinds.password_hash) FROM kinds WHERE kinds.kind IS DISTINCT FROM found.kind
      LIMIT ${MAX_PASSWORD_KINDS} - (found.kind IS NOT NULL)::integer
    ) AS others
  FROM (SELECT) single_row LEFT JOIN LATERAL (
    SELECT password_hash, ${PASSWORD_KIND} AS kind, (SELECT row_to_json(account) FROM (SELECT ${USER_FIELDS}) account) AS "user"
    FROM users WHERE lower(${column}) = lower($1) AND has_password
  ) found ON true`;
const CREDENTIALS = { email: credentialsBy('email'), username: credentialsBy('username') } as const;

/** Response of `/v2/me`. */
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
  /** Null if the name belongs to another user, or looks like an email other than the user's verified email. */
  readonly username: string | null;
  readonly email: string | null;
}

/** SQL condition: the user logs in with email or username, which are unique among such users. */
const hasLogin = (user: string): string => `(${user}.has_password OR ${user}.issuer IS NULL)`;

/**
 * Omits unproven emails and usernames, because applications may match users by them although only `id`
 * identifies a user (OpenID Connect Core 5.7). A username belongs to the user who logs in with it, otherwise to
 * the oldest user who has it.
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

/** Columns of an update that ends every session of a user. */
export const NEXT_GENERATION = { sessionGeneration: () => 'session_generation + 1' };

type ClaimsRow = { readonly [Name in ClaimName]: string | boolean | null };

/** SQL of the claims about a user (OpenID Connect Core 5.1). */
const CLAIMS = `
  SELECT p.name, p.username AS preferred_username, p."avatarUrl" AS picture, u.locale, p."timeZone" AS zoneinfo, p.email,
         u.email_verified
  FROM (${PROFILE}) p JOIN users u USING (id)`;

/**
 * Creates users, and provides the operations for logins, APIs and the users' own pages. `UserAccountStore` and
 * `ExternalUserStore` provide the other operations for operators and the product.
 */
@Injectable()
export class UserStore {
  private readonly users: Repository<UserEntity>;

  constructor(dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /** Finds a user with a password, case-insensitively. A username with an '@' equals the same user's email. */
  async findByLogin(emailOrUsername: string): Promise<User | null> {
    if (!isLogin(emailOrUsername)) return null;
    const column = emailOrUsername.includes('@') ? 'email' : 'username';
    const user = await this.users
      .createQueryBuilder('user')
      .where(`lower(user.${column}) = lower(:login) AND user.hasPassword`, { login: emailOrUsername })
      .getOne();
    return user && toUser(user);
  }

  /** Like `findByLogin`, with the hashes of this user and of other users, in one query. */
  async credentialsOf(emailOrUsername: string): Promise<Credentials> {
    const login = isLogin(emailOrUsername) ? emailOrUsername : '';
    const statement = CREDENTIALS[login.includes('@') ? 'email' : 'username'];
    const [credentials] = await this.users.query<Credentials[]>(statement, [login]);
    return credentials ?? { user: null, passwordHash: null, others: [] };
  }

  /** @returns false if the password was changed concurrently */
  async replacePasswordHash(id: number, verified: string, replacement: string): Promise<boolean> {
    const { affected } = await this.users.update(
      { id, passwordHash: verified },
      { passwordHash: replacement },
    );
    return affected === 1;
  }

  async find(id: number): Promise<User | null> {
    const user = await this.users.findOneBy({ id });
    return user && toUser(user);
  }

  /** Selects columns explicitly, so that a new column stays private. */
  async profile(id: number): Promise<PublicProfile | null> {
    const [profile] = await this.users.query<PublicProfile[]>(PROFILE, [id]);
    return profile ?? null;
  }

  /** Claims for ID tokens and UserInfo, with the username and email of `profile`; null if the user does not exist. */
  async claims(id: number): Promise<UserClaims | null> {
    const [row] = await this.users.query<ClaimsRow[]>(CLAIMS, [id]);
    if (!row) return null;
    const { email, ...others } = row;
    const present = Object.entries({ ...others, ...(email !== null && { email }) });
    return Object.fromEntries(present.filter(([, value]) => value !== null)) as UserClaims;
  }

  /** Creates a user whose email counts as verified. @throws DuplicateUserError */
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

  /** @param locale null for the browser's language @returns false if the user does not exist */
  async setLocale(id: number, locale: string | null): Promise<boolean> {
    return (await this.users.update({ id }, { locale })).affected === 1;
  }

  /** @returns the new session generation */
  async endSessions(id: number): Promise<number> {
    const { raw } = await this.users.update({ id }, NEXT_GENERATION, { returning: ['sessionGeneration'] });
    const [row] = raw as { session_generation: number }[];
    if (row) return row.session_generation;
    throw new Error(`there is no user ${id}`);
  }

  /** @returns the user's id; null if the user does not exist */
  async endSessionsOf({ issuer, externalId }: Identity): Promise<number | null> {
    const { raw } = await this.users.update({ issuer, externalId }, NEXT_GENERATION, { returning: ['id'] });
    const [row] = raw as { id: number }[];
    return row?.id ?? null;
  }

  /** Returns all conflicts for the operator, because PostgreSQL reports only the first violated index. */
  private async takenFields({ email, username }: NewUser, constraint: string): Promise<UniqueUserField[]> {
    const [byEmail, byUsername] = await Promise.all([this.findByLogin(email), this.findByLogin(username)]);
    const taken: UniqueUserField[] = [];
    if (byEmail || constraint === 'users_email_unique') taken.push('email');
    if (byUsername || constraint === 'users_username_unique') taken.push('username');
    return taken;
  }
}

/** Accepts at most the length of an email address (RFC 5321 4.5.3.1.3), without NUL, which PostgreSQL cannot store. */
const isLogin = (text: string): boolean => text.length <= 254 && !text.includes('\0');

export function toUser(entity: UserEntity): User {
  return {
    id: entity.id,
    username: entity.username,
    email: entity.email,
    emailVerified: entity.emailVerified,
    name: entity.name,
    // TypeORM leaves absent columns undefined after an insert.
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
