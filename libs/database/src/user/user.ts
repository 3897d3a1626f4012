/** A user of the scheduling product. */
export interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  /** OpenID Connect Core 5.1 `email_verified`. */
  readonly emailVerified: boolean;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly bio: string | null;
  readonly timeFormat: 12 | 24;
  readonly defaultScheduleId: number | null;
  /** English name of a day. */
  readonly weekStart: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly organizationId: number | null;
  /** The issuer of the user's identity, and the issuer's id for the user (OIDC Core 2 `iss` and `sub`); null without an identity. */
  readonly issuer: string | null;
  readonly externalId: string | null;
  /** The language of the pages, one of `LOCALES`; null if none was chosen. */
  readonly locale: string | null;
  /** Sessions of an earlier generation are invalid. */
  readonly sessionGeneration: number;
  /** A disabled user cannot log in, has no session, and no grant is recorded for them. */
  readonly disabled: boolean;
}

export type UniqueUserField = 'email' | 'username';

/** SQL: the columns of `users` as a User. */
export const USER_FIELDS = `
  id, username, email, email_verified AS "emailVerified", name, avatar_url AS "avatarUrl", bio, time_format AS "timeFormat",
  default_schedule_id AS "defaultScheduleId", week_start AS "weekStart", time_zone AS "timeZone",
  organization_id AS "organizationId", issuer, external_id AS "externalId", locale,
  session_generation AS "sessionGeneration", disabled_at IS NOT NULL AS disabled`;

/** How an issuer identifies a user. */
export interface Identity {
  /** OIDC issuer, or the origin of the product; at most 255 characters. */
  readonly issuer: string;
  /** The issuer's id for the user, which never changes (SCIM RFC 7643 3.1 `externalId`, OIDC `sub`); at most 255 characters. */
  readonly externalId: string;
}

/** The user was deleted after the change that would create them. */
export class DeletedUserError extends Error {
  constructor() {
    super('the user was deleted after this');
    this.name = 'DeletedUserError';
  }
}

/** Another user has the same email or username, compared case-insensitively. */
export class DuplicateUserError extends Error {
  constructor(readonly fields: readonly UniqueUserField[]) {
    super(`another user has the same ${fields.join(' and the same ')}; choose another one`);
    this.name = 'DuplicateUserError';
  }
}
