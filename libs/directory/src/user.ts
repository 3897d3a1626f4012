/** A user of the scheduling product; times and formats are what `/v2/me` answers. */
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
}
