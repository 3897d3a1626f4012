/** A user of the scheduling product; `/v2/me` answers all but the last three fields. */
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
  /** One of `LOCALES`, in which the pages speak to the user; null when none was chosen. */
  readonly locale: string | null;
  /** Sessions of an earlier generation are over. */
  readonly sessionGeneration: number;
  /** Cannot log in, has no session and allows nothing. */
  readonly disabled: boolean;
}

export type UniqueUserField = 'email' | 'username';

/** Another user has the same email or username; letter case makes no difference. */
export class DuplicateUserError extends Error {
  constructor(readonly fields: readonly UniqueUserField[]) {
    super(`another user has the same ${fields.join(' and the same ')}; choose another one`);
    this.name = 'DuplicateUserError';
  }
}
