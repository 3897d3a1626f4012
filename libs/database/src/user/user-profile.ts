import { LOCALES } from '#oauth/locale.js';

/**
 * What the product, or an identity provider, says of a user. An absent field keeps its value; for a new user it has a default. Null
 * removes the value.
 */
export interface UserProfile {
  readonly email: string;
  /** The e-mail if absent. */
  readonly username?: string | undefined;
  /** The username if absent. */
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

/** The e-mail, which every user needs, is missing or not an address. */
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

/** Applications show it: an address with a script would run in one that makes a link of it. */
const isWebAddress = (value: string): boolean => /^https?:/i.test(value) && URL.canParse(value);

/** What the tables accept; {@link UserProfile} says what each field means. */
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

/** Names of the fields that the tables do not accept. */
export function invalidFields(
  profile: Readonly<Partial<Record<keyof UserProfile, unknown>>>,
): (keyof UserProfile)[] {
  const isInvalid = ([field, isValid]: [keyof UserProfile, (value: unknown) => boolean]): boolean =>
    (field === 'email' || profile[field] !== undefined) && !isValid(profile[field]);
  return (Object.entries(RULES) as [keyof UserProfile, (value: unknown) => boolean][])
    .filter(isInvalid)
    .map(([field]) => field);
}

/**
 * The profile without the fields that the tables do not accept, and with a long name shortened: nobody's login fails because an
 * identity provider knows a longer biography.
 *
 * @throws InvalidEmailError
 */
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

/** The language of the pages that a tag like `de-AT` asks for; null if there are no pages in it. */
export function localeOf(tag: string): string | null {
  const language = tag.toLowerCase().split(/[-_]/, 1)[0];
  return LOCALES.find((locale) => locale === language) ?? null;
}

const CANONICAL_ZONES: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

export function isTimeZone(name: string): boolean {
  // A formatter, which also knows aliases, takes a hundred times as long.
  if (CANONICAL_ZONES.has(name)) return true;
  // Some versions of Node also accept offsets like +01:00, which have no daylight saving time.
  if (!/^[A-Z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
