import type { UserProfile } from '#users/user-profile.js';

/** Claim for each field of a user. A field without a claim is not updated. */
export type ClaimMapping = Readonly<Partial<Record<keyof UserProfile, string>>>;

/** Standard claims (OpenID Connect Core 5.1). */
export const STANDARD_CLAIMS = {
  email: 'email',
  username: 'preferred_username',
  name: 'name',
  avatarUrl: 'picture',
  timeZone: 'zoneinfo',
} as const satisfies ClaimMapping;

const TYPES: Readonly<Record<keyof UserProfile, 'string' | 'number'>> = {
  email: 'string',
  username: 'string',
  name: 'string',
  avatarUrl: 'string',
  bio: 'string',
  timeFormat: 'number',
  weekStart: 'string',
  timeZone: 'string',
  defaultScheduleId: 'number',
  organizationId: 'number',
  locale: 'string',
};

export function isProfileField(name: string): name is keyof UserProfile {
  return Object.hasOwn(TYPES, name);
}

/** A null claim clears the field. A claim of the wrong type counts as absent. The store validates the values. */
export function profileOf(claims: Readonly<Record<string, unknown>>, mapping: ClaimMapping): UserProfile {
  const fields = Object.entries(TYPES).flatMap(([field, type]) => {
    const claim = mapping[field as keyof UserProfile];
    const value = claim === undefined ? undefined : ofType(claims[claim], type);
    return value === undefined ? [] : [[field, value] as const];
  });
  return Object.fromEntries(fields) as unknown as UserProfile;
}

/** OpenID Connect Core 2: `sub` "MUST NOT exceed 255 ASCII characters in length". PostgreSQL cannot store a NUL. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,255}$/.test(value);
}

/** Validates a `sid` (section 2.1 of Back-Channel Logout 1.0). The length limit is not in the specification. */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 255;
}

export function emailVerifiedOf(claims: Readonly<Record<string, unknown>>): boolean | undefined {
  const verified = claims['email_verified'];
  return verified === undefined ? undefined : verified === true;
}

/** Some providers send numbers as strings. */
function ofType(value: unknown, type: 'string' | 'number'): unknown {
  if (type === 'number' && typeof value === 'string' && /^\d{1,10}$/.test(value)) return Number(value);
  return value === null || typeof value === type ? value : undefined;
}
