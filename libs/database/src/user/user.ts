/** A user of the scheduling product. `/v2/me` returns all but the last three fields. */
export interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string;
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
  /** The language of the pages, one of `LOCALES`; null if none was chosen. */
  readonly locale: string | null;
  /** Sessions of an earlier generation are invalid. */
  readonly sessionGeneration: number;
  /** A disabled user cannot log in, has no session, and no grant is recorded for them. */
  readonly disabled: boolean;
}

export type UniqueUserField = 'email' | 'username';

/** Another user has the same email or username, compared case-insensitively. */
export class DuplicateUserError extends Error {
  constructor(readonly fields: readonly UniqueUserField[]) {
    super(`another user has the same ${fields.join(' and the same ')}; choose another one`);
    this.name = 'DuplicateUserError';
  }
}
