import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { violatedCheck, violatedConstraint } from '#platform/postgres/postgres-errors.js';
import { UPSERT_USERS, UPSERT_USERS_WITH_PASSWORDS } from './external-user.statement.js';
import { DeletedUserError, DuplicateUserError, type Identity, type User } from './user.js';
import { UserEntity } from './user.entity.js';
import { acceptableProfile, localeOf, type UserProfile } from './user-profile.js';
import { toUser } from './user.store.js';

export interface IdentifiedUser {
  readonly identity: Identity;
  readonly profile: UserProfile;
  /** OpenID Connect Core 5.1 `email_verified`; absent without a claim from the issuer. */
  readonly emailVerified?: boolean | undefined;
  /** Gives an unknown identity to the user with the same verified email. The issuer must have verified the email. */
  readonly linkByEmail: boolean;
  /** Time of the last change (RFC 3339, with microseconds), or null. A change older than the stored one is ignored. */
  readonly updatedAt?: Date | string | null;
  /** Time of a login, instead of `updatedAt`. Only a deletion of the identity after this time takes precedence. */
  readonly assertedAt?: Date;
}

export interface ImportedUser extends Omit<IdentifiedUser, 'identity'> {
  /** Null identifies the user by email. */
  readonly identity: Identity | null;
  readonly passwordHash?: string | undefined;
  readonly replacePassword: boolean;
  /** Creates the user disabled: by the product with an identity, else by the operator. Ignored for an existing user. */
  readonly disabled: boolean;
  /** Enables a user disabled by the product, unless the stored change is newer or has the same time. */
  readonly enable: boolean;
}

/** Fields have the names of the columns. */
export interface UserChange {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  /** True if the password hash changed. */
  readonly password: boolean;
}

export interface UpsertResult {
  /** Null if the outcome is `deleted`. */
  readonly id: number | null;
  /** `kept`: no change. `stale`: a newer change is stored. `deleted`: the identity was deleted after this change. */
  readonly outcome: 'created' | 'updated' | 'kept' | 'stale' | 'deleted';
  readonly wasDisabled: boolean;
  readonly disabled: boolean;
  /** Null without an update, or if another statement changed the user at the same time. */
  readonly change: UserChange | null;
  /** True if the stored password hash differs from the given hash and was not replaced. */
  readonly keptPassword: boolean;
}

/** Each attempt sees at least one concurrent change that the previous attempt did not see. */
const ATTEMPTS = 5;

class DryRunRollback extends Error {}

@Injectable()
export class ExternalUserStore {
  private readonly users: Repository<UserEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /**
   * Creates or updates a user. Drops fields that the table would reject, such as a username that a user with a
   * password cannot have. Never enables or disables the user.
   * @throws InvalidEmailError; DeletedUserError; DuplicateUserError if the user has a password and the new
   * email or username is taken
   */
  async upsertIdentity({ profile, ...identified }: IdentifiedUser): Promise<User> {
    let accepted = acceptableProfile(profile);
    const others = {
      ...identified,
      replacePassword: false,
      disabled: false,
      enable: false,
    };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const { id } = await this.upsert({ ...others, profile: accepted });
        if (id === null) throw new DeletedUserError();
        const user = await this.users.findOneBy({ id });
        if (user) return toUser(user);
      } catch (error) {
        if (violatedCheck(error) !== 'users_username_check' || accepted.username === undefined) throw error;
        const { username: _, ...rest } = accepted;
        accepted = rest;
      }
    }
    throw new Error(TOO_MANY_RETRIES);
  }

  /** @throws DuplicateUserError */
  async upsert(user: ImportedUser): Promise<UpsertResult> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const [row] = await this.upsertMany([user]);
        if (row) return row;
      } catch (error) {
        const constraint = violatedConstraint(error);
        if (constraint === 'users_email_unique') throw new DuplicateUserError(['email']);
        if (constraint === 'users_username_unique') throw new DuplicateUserError(['username']);
        // Retries, because a concurrent statement gave the identity to another user.
        if (constraint !== 'users_identity_unique') throw error;
      }
    }
    throw new Error(TOO_MANY_RETRIES);
  }

  /**
   * @param trial rolls back all changes
   * @returns results in order; null where a concurrent change requires a retry
   * @throws QueryFailedError
   */
  async upsertMany(users: readonly ImportedUser[], trial = false): Promise<(UpsertResult | null)[]> {
    const input = JSON.stringify(users.map(toInputRow));
    const hasPasswords = users.some(({ passwordHash }) => passwordHash !== undefined);
    const statement = hasPasswords ? UPSERT_USERS_WITH_PASSWORDS : UPSERT_USERS;
    let rows: UpsertResult[] = [];
    if (trial)
      await this.dataSource
        .transaction(async (manager) => {
          rows = await manager.query<UpsertResult[]>(statement, [input]);
          throw new DryRunRollback();
        })
        .catch((error: unknown) => {
          if (!(error instanceof DryRunRollback)) throw error;
        });
    else rows = await this.dataSource.query<UpsertResult[]>(statement, [input]);
    return rows.map((row) => (row.id === null && row.outcome !== 'deleted' ? null : row));
  }
}

const TOO_MANY_RETRIES = 'too many concurrent changes of the same user';

function toInputRow(user: ImportedUser): Record<string, unknown> {
  const { identity, profile, linkByEmail, updatedAt, passwordHash, replacePassword, disabled, enable } = user;
  const { emailVerified, assertedAt } = user;
  const { avatarUrl, timeFormat, weekStart, timeZone, defaultScheduleId, organizationId, locale, ...same } =
    profile;
  // JSON omits undefined fields.
  return {
    ...same,
    issuer: identity?.issuer,
    external_id: identity?.externalId,
    link: linkByEmail,
    updated_at: updatedAt ?? undefined,
    asserted_at: assertedAt,
    email_verified: emailVerified,
    avatar_url: avatarUrl,
    time_format: timeFormat,
    week_start: weekStart,
    time_zone: timeZone,
    default_schedule_id: defaultScheduleId,
    organization_id: organizationId,
    locale: typeof locale === 'string' ? localeOf(locale) : locale,
    password_hash: passwordHash,
    replace_password: replacePassword,
    disabled,
    enable,
  };
}
