import type { ActorRights, LastAdminCondition } from './operators/console-role.js';

export interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly bio: string | null;
  readonly timeFormat: 12 | 24;
  readonly defaultScheduleId: number | null;
  readonly weekStart: string;
  readonly timeZone: string;
  readonly organizationId: number | null;
  /** `iss` and `sub` (section 2 of OpenID Connect Core); null without an identity. */
  readonly issuer: string | null;
  readonly externalId: string | null;
  /** One of `LOCALES`; null if not chosen. */
  readonly locale: string | null;
  /** Sessions of another generation are invalid. */
  readonly sessionGeneration: number;
  /** A disabled user cannot log in, has no sessions, and gets no new grants. */
  readonly disabled: boolean;
}

const ID = /^[1-9]\d{0,9}$/;
/** Maximum of a PostgreSQL `integer`. */
const MAX_ID = 2 ** 31 - 1;

/** Returns true for a possible id of a user, as text. */
export function isUserId(text: string): boolean {
  return ID.test(text) && Number(text) <= MAX_ID;
}

export type UniqueUserField = 'email' | 'username';

export const USER_FIELDS = `
  id, username, email, email_verified AS "emailVerified", name, avatar_url AS "avatarUrl", bio, time_format AS "timeFormat",
  default_schedule_id AS "defaultScheduleId", week_start AS "weekStart", time_zone AS "timeZone",
  organization_id AS "organizationId", issuer, external_id AS "externalId", locale,
  session_generation AS "sessionGeneration", disabled_at IS NOT NULL AS disabled`;

/** Condition of a change, checked while the user is locked. */
export interface AccountCondition extends LastAdminCondition {
  /** Undefined for every version. */
  readonly version?: number | undefined;
  /** Operator or API client; undefined if a user or the product makes the change. */
  readonly actor?: ActorRights;
}

export interface Identity {
  /** OpenID Connect issuer, or the product's origin; at most 255 characters. */
  readonly issuer: string;
  /** Immutable (SCIM RFC 7643 3.1 `externalId`, OpenID Connect `sub`); at most 255 characters. */
  readonly externalId: string;
}

export class DeletedUserError extends Error {
  constructor() {
    super('the user has since been deleted');
    this.name = 'DeletedUserError';
  }
}

export class DuplicateUserError extends Error {
  constructor(readonly fields: readonly UniqueUserField[]) {
    super(`another user has the same ${fields.join(' and the same ')}; choose another one`);
    this.name = 'DuplicateUserError';
  }
}
