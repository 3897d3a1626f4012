import type { ImportedUser } from './external-user.store.js';
import type { Identity } from './user.js';
import { readPasswordHash } from './imported-password-hash.js';
import { invalidFields, type UserProfile } from './user-profile.js';

const PROFILE = {
  email: 'email',
  username: 'username',
  name: 'name',
  avatar_url: 'avatarUrl',
  bio: 'bio',
  time_format: 'timeFormat',
  week_start: 'weekStart',
  time_zone: 'timeZone',
  default_schedule_id: 'defaultScheduleId',
  organization_id: 'organizationId',
  locale: 'locale',
} as const satisfies Record<string, keyof UserProfile>;

const RULES: Readonly<Record<keyof UserProfile, string>> = {
  email: 'an email address of at most 254 characters',
  username: '1 to 254 characters, none of them a control character',
  name: '1 to 100 characters, none of them a control character',
  avatarUrl: 'an http or https URL of at most 2000 characters, or null',
  bio: 'at most 2000 characters, or null',
  timeFormat: '12 or 24',
  weekStart: 'an English name of a day, like Monday',
  timeZone: 'an IANA name, like Europe/Berlin',
  defaultScheduleId: 'a 32-bit integer, or null',
  organizationId: 'a 32-bit integer, or null',
  locale: 'a language tag, like de, or null',
};

export const USER_FIELDS_OF_RECORDS: readonly string[] = [
  ...Object.keys(PROFILE),
  'email_verified',
  'issuer',
  'external_id',
  'updated_at',
  'password_hash',
  'disabled',
];

/** RFC 3339 `date-time`, with an upper-case T and Z. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Milliseconds. A change with a time further in the future would block subsequent changes. */
const CLOCK_TOLERANCE = 300_000;
const LOGIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export type UserRecord = Readonly<Record<string, unknown>>;

/** @param defaultIssuer for users with an `external_id` and no `issuer` @returns the user or all validation errors */
export function readUserRecord(
  record: UserRecord,
  defaultIssuer: string | null,
  now: number,
): { readonly user: ImportedUser } | { readonly problems: readonly string[] } {
  const profile = Object.fromEntries(
    Object.entries(PROFILE).flatMap(([name, field]) => (name in record ? [[field, record[name]]] : [])),
  ) as unknown as UserProfile;
  const problems = [
    ...Object.keys(record)
      .filter((name) => !USER_FIELDS_OF_RECORDS.includes(name))
      .map((name) => `unknown field ${JSON.stringify(name.slice(0, 100))}`),
    ...invalidFields(profile).map((field) => `${nameOf(field)} must be ${RULES[field]}`),
    ...identityProblems(record, defaultIssuer),
    ...otherProblems(record, now),
  ];
  const { external_id: externalId, issuer = defaultIssuer, updated_at: updatedAt } = record;
  const { password_hash: hash, disabled = false, email_verified: emailVerified } = record;
  const password = hash === undefined ? { passwordHash: undefined } : readPasswordHash(hash);
  if ('problem' in password) problems.push(`password_hash is not accepted: ${password.problem}`);
  const { username, email } = profile;
  const hasLogin = hash !== undefined || externalId === undefined;
  if (hasLogin && typeof username === 'string' && username !== email && !LOGIN_NAME.test(username))
    problems.push(
      'username must be 1 to 64 letters, digits, dots, hyphens and underscores, or the email, where users log in with a password',
    );
  if (problems.length > 0) return { problems };
  return {
    user: {
      identity: externalId === undefined ? null : ({ issuer, externalId } as ImportedUser['identity']),
      profile,
      emailVerified: emailVerified as boolean | undefined,
      linkByEmail: false,
      updatedAt: (updatedAt as string | undefined) ?? null,
      passwordHash: 'problem' in password ? undefined : password.passwordHash,
      replacePassword: false,
      disabled: disabled === true,
      enable: false,
    },
  };
}

export interface IdentityRecord {
  readonly identity: Identity;
  /** RFC 3339. */
  readonly updatedAt: string;
}

/** Accepts only an identity and `updated_at`, and requires both. */
export function readIdentityRecord(
  { issuer, external_id: externalId, updated_at: updatedAt, ...others }: UserRecord,
  now: number,
): IdentityRecord | { readonly problems: readonly string[] } {
  const identity = { issuer, external_id: externalId };
  const problems = [
    ...missingFields({ ...identity, updated_at: updatedAt }),
    ...identityProblems(identity, null),
    ...timeProblems(updatedAt, now),
    ...Object.keys(others).map((name) => `${JSON.stringify(name.slice(0, 100))} is not accepted here`),
  ];
  if (problems.length > 0) return { problems };
  return { identity: { issuer, externalId } as Identity, updatedAt: updatedAt as string };
}

/** Returns a problem for each missing field that identifies the user or orders changes. */
export function missingFields(record: UserRecord): string[] {
  return ['issuer', 'external_id', 'updated_at']
    .filter((name) => record[name] === undefined)
    .map((name) => `${name} is missing`);
}

function identityProblems({ external_id: id, issuer }: UserRecord, defaultIssuer: string | null): string[] {
  const isText = (value: unknown): boolean =>
    typeof value === 'string' && value !== '' && value.length <= 255 && !/\p{Cc}/u.test(value);
  if (id === undefined) return issuer === undefined ? [] : ['external_id is required with issuer'];
  if (issuer === undefined && defaultIssuer === null) return ['issuer is required with external_id'];
  return [
    ...(isText(id) ? [] : ['external_id must be text of 1 to 255 characters']),
    ...(issuer === undefined || isText(issuer) ? [] : ['issuer must be text of 1 to 255 characters']),
  ];
}

function otherProblems(
  { updated_at: updatedAt, disabled, email_verified: emailVerified }: UserRecord,
  now: number,
): string[] {
  const problems = timeProblems(updatedAt, now);
  if (disabled !== undefined && typeof disabled !== 'boolean')
    problems.push('disabled must be true or false');
  if (emailVerified !== undefined && typeof emailVerified !== 'boolean')
    problems.push('email_verified must be true or false');
  return problems;
}

function timeProblems(updatedAt: unknown, now: number): string[] {
  if (updatedAt === undefined) return [];
  const time = typeof updatedAt === 'string' && DATE_TIME.test(updatedAt) ? Date.parse(updatedAt) : NaN;
  if (Number.isNaN(time))
    return ['updated_at must be a time with a time zone, like 2026-11-22T13:00:00.123456Z'];
  return time > now + CLOCK_TOLERANCE ? ['updated_at must not be in the future'] : [];
}

const nameOf = (field: keyof UserProfile): string =>
  Object.entries(PROFILE).find(([, known]) => known === field)?.[0] ?? field;
