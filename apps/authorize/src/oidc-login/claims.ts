import type { UserProfile } from '#database/user/user-profile.js';
import type { Authenticated } from './openid-provider.service.js';

/** The claim of each field of a user. The names of the fields are those of `/v2/me`, and `locale`. */
export type ClaimMapping = Readonly<Partial<Record<keyof UserProfile, string>>>;

/** Standard claims (OpenID Connect Core 5.1). */
const STANDARD_CLAIMS: ClaimMapping = {
  email: 'email',
  username: 'preferred_username',
  name: 'name',
  avatarUrl: 'picture',
  timeZone: 'zoneinfo',
};

const FIELDS: ReadonlySet<string> = new Set<keyof UserProfile>([
  'email',
  'username',
  'name',
  'avatarUrl',
  'bio',
  'timeFormat',
  'weekStart',
  'timeZone',
  'defaultScheduleId',
  'organizationId',
  'locale',
]);
const NUMBERS: ReadonlySet<string> = new Set<keyof UserProfile>([
  'timeFormat',
  'defaultScheduleId',
  'organizationId',
]);

/**
 * Reads `field=claim,field=claim`, which completes and replaces the standard claims. A field without a claim, `name=`, is not
 * taken over.
 *
 * @returns null if it is malformed
 */
export function parseClaimMapping(text: string): ClaimMapping | null {
  const mapping: Record<string, string> = { ...STANDARD_CLAIMS };
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, field = '', claim = ''] = /^([^=]*)=(.*)$/.exec(part.trim()) ?? [];
    if (!FIELDS.has(field)) return null;
    mapping[field] = claim;
  }
  return mapping['email'] === '' ? null : mapping;
}

/** The profile of a user who has logged in, and whether the provider has verified the e-mail. */
export function profileOf(
  { claims, userInfo }: Pick<Authenticated, 'claims' | 'userInfo'>,
  mapping: ClaimMapping,
): { readonly profile: UserProfile; readonly emailVerified: boolean } {
  const all: Readonly<Record<string, unknown>> = { ...claims, ...userInfo };
  const profile: Record<string, unknown> = {};
  for (const [field, claim] of Object.entries(mapping)) {
    const value = claim === '' ? undefined : all[claim];
    if (value !== undefined) profile[field] = NUMBERS.has(field) ? toNumber(value) : value;
  }
  // `email_verified` is about the `email` beside it, and about no other claim.
  const source: Readonly<Record<string, unknown>> = userInfo?.email === undefined ? claims : userInfo;
  const emailVerified = mapping.email === 'email' && source['email_verified'] === true;
  return { profile: profile as unknown as UserProfile, emailVerified };
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
}
