import { LOCALES } from '#oauth/locale.js';

/**
 * Profile from the product or an identity provider. An absent field keeps its value, or gets a default for a new user;
 * null removes the value.
 */
export interface UserProfile {
  readonly email: string;
  /** Defaults to the email. */
  readonly username?: string | undefined;
  /** Defaults to the username. */
  readonly name?: string | undefined;
  readonly avatarUrl?: string | null | undefined;
  readonly bio?: string | null | undefined;
  readonly timeFormat?: 12 | 24 | undefined;
  /** English name of a day. */
  readonly weekStart?: string | undefined;
  /** IANA name. */
  readonly timeZone?: string | undefined;
  readonly defaultScheduleId?: number | null | undefined;
  readonly organizationId?: number | null | undefined;
  /** BCP 47 language tag. */
  readonly locale?: string | null | undefined;
}

export class InvalidEmailError extends Error {
  constructor() {
    super('a user needs an email address of at most 254 characters');
    this.name = 'InvalidEmailError';
  }
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MAX_NAME = 100;

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max && !/\p{Cc}/u.test(value);
const isOptionalId = (value: unknown): boolean => value === null || isInteger(value);
/** A PostgreSQL `integer`. */
const isInteger = (value: unknown): value is number => typeof value === 'number' && (value | 0) === value;

/** Rejects `javascript:` URLs, which an application might render as a link. */
const isWebAddress = (value: string): boolean => /^https?:/i.test(value) && URL.canParse(value);

const RULES: Readonly<Record<keyof UserProfile, (value: unknown) => boolean>> = {
  email: (value) => isText(value, 254) && /^[^@\s]+@[^@\s]+$/.test(value),
  username: (value) => isText(value, 254) && value.trim() !== '',
  name: (value) => isText(value, 2 * MAX_NAME) && Array.from(value).length <= MAX_NAME && value.trim() !== '',
  avatarUrl: (value) => value === null || (isText(value, 2000) && isWebAddress(value)),
  bio: (value) =>
    value === null || (typeof value === 'string' && value.length <= 2000 && !value.includes('\0')),
  timeFormat: (value) => value === 12 || value === 24,
  weekStart: (value) => DAYS.includes(value as string),
  timeZone: (value) => isText(value, 64) && isTimeZone(value),
  defaultScheduleId: isOptionalId,
  organizationId: isOptionalId,
  locale: (value) => value === null || isText(value, 35),
};

/** Returns the invalid fields. A missing email is invalid. */
export function invalidFields(
  profile: Readonly<Partial<Record<keyof UserProfile, unknown>>>,
): (keyof UserProfile)[] {
  const isInvalid = ([field, isValid]: [keyof UserProfile, (value: unknown) => boolean]): boolean =>
    (field === 'email' || profile[field] !== undefined) && !isValid(profile[field]);
  return (Object.entries(RULES) as [keyof UserProfile, (value: unknown) => boolean][])
    .filter(isInvalid)
    .map(([field]) => field);
}

/** Drops invalid fields and shortens a long name, so that they do not fail a login. @throws InvalidEmailError */
export function acceptableProfile(profile: UserProfile): UserProfile {
  const shortened = {
    ...profile,
    name: profile.name && Array.from(profile.name).slice(0, MAX_NAME).join(''),
  };
  const invalid = new Set<string>(invalidFields(shortened));
  if (invalid.has('email')) throw new InvalidEmailError();
  return Object.fromEntries(
    Object.entries(shortened).filter(([field, value]) => value !== undefined && !invalid.has(field)),
  ) as unknown as UserProfile;
}

/** Returns the page language for a tag like `de-AT`; null if the language is not supported. */
export function localeOf(tag: string): string | null {
  const language = tag.toLowerCase().split(/[-_]/, 1)[0];
  return LOCALES.find((locale) => locale === language) ?? null;
}

const CANONICAL_ZONES: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

export function isTimeZone(name: string): boolean {
  // Constructing a formatter, which also accepts aliases, takes a hundred times as long.
  if (CANONICAL_ZONES.has(name)) return true;
  // Some versions of Node also accept offsets like +01:00, which lack daylight saving time.
  if (!/^[A-Z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
