/** What `/v2/me` answers about a user (DESIGN 4); what is not set is null. */
export interface Profile {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly bio: string | null;
  readonly timeFormat: number;
  readonly defaultScheduleId: number | null;
  readonly weekStart: string;
  readonly timeZone: string;
  readonly organizationId: number | null;
}
