import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { refusedRow, violatedCheck, violatedConstraint } from '../connection/errors.js';
import { BRING_UP_TO_DATE } from './external-user.statement.js';
import { DeletedUserError, DuplicateUserError, type Identity, type User } from './user.js';
import { UserEntity } from './user.entity.js';
import { acceptableProfile, localeOf, type UserProfile } from './user-profile.js';
import { toUser } from './user.store.js';

export interface KnownUser {
  readonly identity: Identity;
  readonly profile: UserProfile;
  /** `email_verified` of the issuer (OpenID Connect Core 5.1); absent if it does not say. */
  readonly emailVerified?: boolean | undefined;
  /**
   * Whether an unknown identity is given to the user without one who has the same e-mail, if that is verified. Only if the issuer
   * has verified it too: otherwise anybody could claim another user's account.
   */
  readonly linkByEmail: boolean;
  /**
   * When the issuer last changed the profile; if it is older than the stored one, nothing changes. Null if unknown. Text
   * (RFC 3339) may have microseconds.
   */
  readonly updatedAt?: Date | string | null;
  /** When a login was asserted, in place of `updatedAt`. Only a later deletion of the identity outdates it. */
  readonly assertedAt?: Date;
}

/** A user whom the product brings. */
export interface BroughtUser extends Omit<KnownUser, 'identity'> {
  /** Null: the user is known by e-mail. */
  readonly identity: Identity | null;
  /** One that `passwordHashProblem` accepts. */
  readonly passwordHash?: string | undefined;
  /** Whether the hash replaces one that is stored. */
  readonly replacePassword: boolean;
  /** Disables a new user: for the product if they have an identity, else for the operator. Says nothing of a known one. */
  readonly disabled: boolean;
  /** Undoes that the product disabled a known user, if this is the newest change. */
  readonly enable: boolean;
}

/** `kept`: nothing was new. `stale`: a newer change was applied before. `deleted`: the identity was deleted after this change. */
type Outcome = 'created' | 'updated' | 'kept' | 'stale' | 'deleted';

export interface BringResult {
  /** Null if the outcome is `deleted`. */
  readonly id: number | null;
  readonly outcome: Outcome;
  readonly wasDisabled: boolean;
  /** Whether the user is disabled now. */
  readonly disabled: boolean;
  /** Whether the user has another password than the one given. */
  readonly keptPassword: boolean;
}

/** Of any number of concurrent changes, each repetition sees at least one. */
const ATTEMPTS = 5;

/** Undoes the transaction of a trial. */
class Undo extends Error {}

/** The users whom an identity provider or the product knows. */
@Injectable()
export class ExternalUserStore {
  private readonly users: Repository<UserEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /**
   * Creates the user of an identity, or updates them. Leaves out what the tables do not accept, such as a username that no user
   * with a password may have, and never changes whether the user is disabled: callers check that.
   *
   * @throws InvalidEmailError; DeletedUserError; DuplicateUserError if the user also has a password, and the new e-mail or username
   * is another one's
   */
  async bringUpToDate({ profile, ...known }: KnownUser): Promise<User> {
    let accepted = acceptableProfile(profile);
    const others = {
      ...known,
      replacePassword: false,
      disabled: false,
      enable: false,
    };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const { id } = await this.bring({ ...others, profile: accepted });
        if (id === null) throw new DeletedUserError();
        const found = await this.users.findOneBy({ id });
        if (found) return toUser(found);
      } catch (error) {
        if (violatedCheck(error) !== 'users_username_check' || accepted.username === undefined) throw error;
        const { username: _, ...rest } = accepted;
        accepted = rest;
      }
    }
    throw new Error(CONTENDED);
  }

  /**
   * Creates or updates one user.
   *
   * @throws DuplicateUserError
   */
  async bring(user: BroughtUser): Promise<BringResult> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const [row] = await this.bringAll([user]);
        if (row) return row;
      } catch (error) {
        const constraint = violatedConstraint(error);
        if (constraint === 'users_email_unique') throw new DuplicateUserError(['email']);
        if (constraint === 'users_username_unique') throw new DuplicateUserError(['username']);
        // Another statement has given the identity to another user after this one began.
        if (constraint !== 'users_identity_unique') throw error;
      }
    }
    throw new Error(CONTENDED);
  }

  /**
   * Creates or updates many users by one statement.
   *
   * @param trial whether to change nothing
   * @returns the results in order; null where the user was changed concurrently and the call has to be repeated
   * @throws QueryFailedError if the tables refuse one of them; then nothing was changed
   */
  async bringAll(users: readonly BroughtUser[], trial = false): Promise<(BringResult | null)[]> {
    const lines = JSON.stringify(users.map(lineOf));
    let rows: BringResult[] = [];
    if (trial)
      await this.dataSource
        .transaction(async (manager) => {
          rows = await manager.query<BringResult[]>(BRING_UP_TO_DATE, [lines]);
          throw new Undo();
        })
        .catch((error: unknown) => {
          if (!(error instanceof Undo)) throw error;
        });
    else rows = await this.dataSource.query<BringResult[]>(BRING_UP_TO_DATE, [lines]);
    return rows.map((row) => (row.id === null && row.outcome !== 'deleted' ? null : row));
  }

  /** Why the tables refused a user; null if the statement failed for another reason, and may succeed later. */
  refusal(error: unknown): string | null {
    return refusedRow(error);
  }
}

const CONTENDED = 'the user was changed concurrently again and again';

function lineOf(user: BroughtUser): Record<string, unknown> {
  const { identity, profile, linkByEmail, updatedAt, passwordHash, replacePassword, disabled, enable } = user;
  const { emailVerified, assertedAt } = user;
  const { avatarUrl, timeFormat, weekStart, timeZone, defaultScheduleId, organizationId, locale, ...same } =
    profile;
  // JSON leaves out what is undefined.
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
