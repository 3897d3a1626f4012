import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { violatedConstraint } from '../connection/errors.js';
import { BRING_UP_TO_DATE } from './external-user.statement.js';
import { DuplicateUserError, type Identity, type User } from './user.js';
import { UserEntity } from './user.entity.js';
import { acceptableProfile, localeOf, type UserProfile } from './user-profile.js';
import { toUser } from './user.store.js';

export interface KnownUser {
  readonly identity: Identity;
  readonly profile: UserProfile;
  /**
   * Whether an unknown identity is given to the user without one who has the same e-mail. Only if the issuer has verified the
   * e-mail: otherwise anybody could claim another user's account.
   */
  readonly linkByEmail: boolean;
  /** When the issuer last changed the profile; if it is older than the stored one, nothing changes. Null if unknown. */
  readonly updatedAt?: Date | null;
}

/** Of any number of concurrent changes, each repetition sees at least one. */
const ATTEMPTS = 5;

/** The users whom an identity provider or the product knows. */
@Injectable()
export class ExternalUserStore {
  private readonly users: Repository<UserEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  /**
   * Creates the user of an identity, or updates them. Leaves out what the tables do not accept, and never changes whether the user
   * is disabled: callers check that.
   *
   * @throws InvalidEmailError; DuplicateUserError if the user also has a password, and the new e-mail or username is another one's
   */
  async bringUpToDate(known: KnownUser): Promise<User> {
    const line = JSON.stringify([lineOf(known)]);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const id = await this.apply(line);
      const found = id === null ? null : await this.users.findOneBy({ id });
      if (found) return toUser(found);
    }
    throw new Error('the user was changed concurrently again and again');
  }

  /** @returns the user's id; null to try again */
  private async apply(lines: string): Promise<number | null> {
    try {
      const [row] = await this.dataSource.query<{ id: number | null }[]>(BRING_UP_TO_DATE, [lines]);
      return row?.id ?? null;
    } catch (error) {
      const constraint = violatedConstraint(error);
      // Another statement has given the identity to another user after this one began.
      if (constraint === 'users_identity_unique') return null;
      if (constraint === 'users_email_unique') throw new DuplicateUserError(['email']);
      if (constraint === 'users_username_unique') throw new DuplicateUserError(['username']);
      throw error;
    }
  }
}

function lineOf({ identity, profile, linkByEmail, updatedAt = null }: KnownUser): Record<string, unknown> {
  const { avatarUrl, timeFormat, weekStart, timeZone, defaultScheduleId, organizationId, locale, ...same } =
    acceptableProfile(profile);
  // JSON leaves out what is undefined.
  return {
    ...same,
    issuer: identity.issuer,
    external_id: identity.externalId,
    link: linkByEmail,
    updated_at: updatedAt,
    avatar_url: avatarUrl,
    time_format: timeFormat,
    week_start: weekStart,
    time_zone: timeZone,
    default_schedule_id: defaultScheduleId,
    organization_id: organizationId,
    locale: typeof locale === 'string' ? localeOf(locale) : locale,
  };
}
