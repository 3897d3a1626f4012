import type { UserProfile } from '#database/user/user-profile.js';

/** The claim of each field: the standard ones (OpenID Connect Core 5.1), and for the rest the names of `/v2/me`. */
const CLAIMS = {
  email: ['email', 'string'],
  username: ['preferred_username', 'string'],
  name: ['name', 'string'],
  avatarUrl: ['picture', 'string'],
  bio: ['bio', 'string'],
  timeFormat: ['timeFormat', 'number'],
  weekStart: ['weekStart', 'string'],
  timeZone: ['zoneinfo', 'string'],
  defaultScheduleId: ['defaultScheduleId', 'number'],
  organizationId: ['organizationId', 'number'],
  locale: ['locale', 'string'],
} as const satisfies Record<keyof UserProfile, readonly [claim: string, type: string]>;

/**
 * The profile in the claims. Null removes a value. A claim of a wrong type counts as absent; the store leaves out what it
 * does not accept.
 */
export function profileOf(claims: Readonly<Record<string, unknown>>): UserProfile {
  const fields = Object.entries(CLAIMS).flatMap(([field, [claim, type]]) => {
    const value = claims[claim];
    return value === null || typeof value === type ? [[field, value] as const] : [];
  });
  return Object.fromEntries(fields) as unknown as UserProfile;
}
