import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { LOCALES } from '#oauth/locale.js';
import { reports } from '#platform/validation/problem.js';
import { MayBeAbsent, Satisfies, validate, WholeNumber } from '#platform/validation/validate.js';

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

declare module '#platform/validation/problem.js' {
  interface Problems {
    email_too_long: { readonly max: number };
    text_invalid: { readonly max: number };
    bio_invalid: { readonly max: number };
    web_address_invalid: { readonly max: number };
    time_format_invalid: null;
    week_start_invalid: null;
    language_tag_invalid: { readonly max: number };
  }
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MAX_NAME = 100;
const MAX_ADDRESS = 2000;

/** Rejects `javascript:` URLs, which an application might render as a link. */
const isWebAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS && /^https?:\P{Cc}*$/iu.test(text) && URL.canParse(text);

/** A PostgreSQL `integer`. */
const IsInteger = (): PropertyDecorator => WholeNumber(-(2 ** 31), 2 ** 31 - 1);

/** Fields of {@link UserProfile} under the names that they have outside. */
export class UserFieldsDto {
  @Matches(/^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u, reports('email_too_long', { max: 254 }))
  @Matches(/^.{0,254}$/u, reports('email_too_long', { max: 254 }))
  @IsString()
  email: string;

  @Matches(/\S/, reports('text_invalid', { max: 254 }))
  @Matches(/^\P{Cc}{1,254}$/u, reports('text_invalid', { max: 254 }))
  @IsString()
  @MayBeAbsent()
  username?: string;

  @Matches(/\S/, reports('text_invalid', { max: MAX_NAME }))
  @Matches(/^\P{Cc}{1,100}$/u, reports('text_invalid', { max: MAX_NAME }))
  @IsString()
  @MayBeAbsent()
  name?: string;

  @Satisfies(isWebAddress, reports('web_address_invalid', { max: MAX_ADDRESS }))
  @IsString()
  @IsOptional()
  avatar_url?: string | null;

  @Matches(/^[^\0]{0,2000}$/u, reports('bio_invalid', { max: 2000 }))
  @IsString()
  @IsOptional()
  bio?: string | null;

  @IsIn([12, 24], reports('time_format_invalid'))
  @MayBeAbsent()
  time_format?: 12 | 24;

  @IsIn(DAYS, reports('week_start_invalid'))
  @MayBeAbsent()
  week_start?: string;

  @Satisfies(isTimeZone, reports('time_zone_invalid'))
  @IsString()
  @MayBeAbsent()
  time_zone?: string;

  @IsInteger()
  @IsOptional()
  default_schedule_id?: number | null;

  @IsInteger()
  @IsOptional()
  organization_id?: number | null;

  @Matches(/^\P{Cc}{0,35}$/u, reports('language_tag_invalid', { max: 35 }))
  @IsString()
  @IsOptional()
  locale?: string | null;
}

const FIELDS = {
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
} as const satisfies Record<keyof UserFieldsDto, keyof UserProfile>;

const NAMES = Object.entries(FIELDS) as [keyof UserFieldsDto, keyof UserProfile][];

export function profileOf(fields: UserFieldsDto): UserProfile {
  return Object.fromEntries(
    NAMES.flatMap(([name, field]) => (fields[name] === undefined ? [] : [[field, fields[name]]])),
  ) as unknown as UserProfile;
}

/** Drops invalid fields and shortens a long name, so that they do not fail a login. @throws InvalidEmailError */
export function acceptableProfile(profile: UserProfile): UserProfile {
  const name = profile.name && Array.from(profile.name).slice(0, MAX_NAME).join('');
  const fields = Object.fromEntries(NAMES.map(([given, field]) => [given, profile[field]]));
  const accepted = { ...fields, name };
  const invalid = validate(UserFieldsDto, accepted).problems.map(({ path: [field] }) => field);
  if (invalid.includes('email')) throw new InvalidEmailError();
  return profileOf(
    Object.fromEntries(
      Object.entries(accepted).filter(([field]) => !invalid.includes(field)),
    ) as unknown as UserFieldsDto,
  );
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
