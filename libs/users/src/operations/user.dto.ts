import { isUserId } from '../user.js';
import { isTimeZone } from '../user-profile.js';
import { LOCALES } from '#oauth/locale.js';
import { isEmailAddress } from '#oauth/registration/client-links.js';
import { USER_KINDS, type UserKind } from '../user-account.store.js';
import { Flag, Rule, Text, TextOrNull } from '#operations/validate.js';
import { Cursor, FilterDto, Limit, OneOf } from '#operations/list.js';

const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME = /^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u;
const PASSWORD = /^[^\p{Cc}]{8,256}$/u;

const LOCALE_NAMES = LOCALES.join(', ');
const isLocale = (locale: string): boolean => (LOCALES as readonly string[]).includes(locale);

const passwordProblems = ({ password }: { readonly password?: string }): string[] =>
  password === undefined || PASSWORD.test(password)
    ? []
    : ['‹password› must be one line of 8 to 256 characters, with no control characters'];

export class NewUserDto {
  @Text()
  @Rule('email_invalid', ({ email }: NewUserDto) =>
    email !== undefined && isEmailAddress(email)
      ? []
      : ['‹email› must be an email address, like ada@example.com'],
  )
  email: string;

  @Text()
  @Rule('username_invalid', ({ username }: NewUserDto) =>
    username !== undefined && USERNAME.test(username)
      ? []
      : [
          '‹username› must be 1 to 64 letters, digits, dots, hyphens and underscores, and start with a letter or digit',
        ],
  )
  username: string;

  @Text()
  @Rule('name_invalid', ({ name }: NewUserDto) =>
    name !== undefined && NAME.test(name)
      ? []
      : ['‹name› must be 1 to 100 printable characters with no space at either end'],
  )
  name: string;

  /** IANA name; UTC if absent. */
  @Text()
  @Rule('time_zone_invalid', ({ timeZone }: NewUserDto) =>
    timeZone === undefined || isTimeZone(timeZone)
      ? []
      : ['‹timeZone› must be an IANA name, like Europe/Berlin or UTC'],
  )
  timeZone?: string;

  /** Language of the pages; the browser's language if absent. */
  @Text()
  @Rule('locale_unknown', ({ locale }: NewUserDto) =>
    locale === undefined || isLocale(locale)
      ? []
      : [`‹locale› must be one of ${LOCALE_NAMES}, with no region`],
  )
  locale?: string;

  /** Generated if absent. */
  @Text()
  @Rule('password_invalid', passwordProblems)
  password?: string;
}

/** `search` is a part of the email, username, name or external_id, in any letter case; or `id:` and the id. */
export class UserFilterDto extends FilterDto {
  @OneOf(USER_KINDS)
  kind?: UserKind;
}

export class UserListDto extends UserFilterDto {
  @Cursor(isUserId)
  cursor?: string;

  @Limit()
  limit = 100;
}

export class UserChangesDto {
  /** Null for the browser's language. */
  @TextOrNull()
  @Rule('locale_unknown', ({ locale }: UserChangesDto) => {
    if (locale === undefined) return ['nothing to change: give ‹locale›'];
    if (locale === null || isLocale(locale)) return [];
    return [`‹locale› must be one of ${LOCALE_NAMES}, with no region, or none`];
  })
  locale: string | null;
}

export class PasswordChangeDto {
  /** Generated if absent. */
  @Text()
  @Rule('password_invalid', passwordProblems)
  password?: string;

  @Flag()
  endSessions = false;
}

export class UserImportDto {
  @Text()
  @Rule('format_invalid', ({ format }: UserImportDto) =>
    format === 'csv' || format === 'jsonl' ? [] : ['‹format› must be jsonl or csv'],
  )
  format: 'csv' | 'jsonl';

  @Text()
  @Rule('issuer_invalid', ({ issuer }: UserImportDto) =>
    issuer === undefined || (issuer !== '' && issuer.length <= 255)
      ? []
      : ['‹issuer› must be 1 to 255 characters'],
  )
  issuer?: string;

  @Flag()
  replacePasswords = false;

  @Flag()
  dryRun = false;
}
