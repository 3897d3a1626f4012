import { IsBoolean, IsIn, IsString, Matches, ValidateIf } from 'class-validator';
import { LOCALES } from '#oauth/locale.js';
import { isEmailAddress } from '#oauth/links.js';
import { problem, reports } from '#platform/validation/problem.js';
import { MayBeAbsent, Satisfies } from '#platform/validation/validate.js';
import { Cursor, FilterDto, Limit } from '#operations/list.js';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { printable } from '#operations/wording.js';
import { isUserId, type User } from '../user.js';
import { isTimeZone } from '../user-profile.js';
import type { UserStore } from '../user.store.js';
import { USER_KINDS, type UserAccountStore, type UserKind } from '../user-account.store.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    email_invalid: null;
    username_invalid: null;
    name_invalid: { readonly max: number; readonly isVisible?: true };
    time_zone_invalid: null;
    locale_unknown: { readonly locales: readonly string[]; readonly clears?: true };
    password_invalid: { readonly min: number; readonly max: number };
    format_invalid: null;
    issuer_invalid: { readonly max: number };
  }
}

const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME = /^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u;
const PASSWORD = /^[^\p{Cc}]{8,256}$/u;
const PASSWORD_INVALID = reports('password_invalid', { min: 8, max: 256 });

export class NewUserDto {
  @Satisfies(isEmailAddress, reports('email_invalid'))
  @IsString()
  email: string;

  @Matches(USERNAME, reports('username_invalid'))
  @IsString()
  username: string;

  @Matches(NAME, reports('name_invalid', { max: 100 }))
  @IsString()
  name: string;

  /** IANA name; UTC if absent. */
  @Satisfies(isTimeZone, reports('time_zone_invalid'))
  @IsString()
  @MayBeAbsent()
  timeZone?: string;

  /** Language of the pages; the browser's language if absent. */
  @IsIn(LOCALES, reports('locale_unknown', { locales: LOCALES }))
  @IsString()
  @MayBeAbsent()
  locale?: string;

  /** Generated if absent. */
  @Matches(PASSWORD, PASSWORD_INVALID)
  @IsString()
  @MayBeAbsent()
  password?: string;
}

/** `search` is a part of the email, username, name or external_id, in any letter case; or `id:` and the id. */
export class UserFilterDto extends FilterDto {
  @IsIn(USER_KINDS)
  @IsString()
  @MayBeAbsent()
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
  @IsIn(LOCALES, reports('locale_unknown', { locales: LOCALES, clears: true }))
  @IsString()
  @ValidateIf((_, value) => value !== null)
  locale: string | null;
}

export class PasswordChangeDto {
  /** Generated if absent. */
  @Matches(PASSWORD, PASSWORD_INVALID)
  @IsString()
  @MayBeAbsent()
  password?: string;

  @IsBoolean()
  endSessions = false;
}

export class DisabledUserDto {
  @IsBoolean()
  confirmLastAdmin = false;
}

export class EnabledUserDto {
  @IsBoolean()
  overrideProduct = false;
}

export class UserImportDto {
  @IsIn(['csv', 'jsonl'], reports('format_invalid'))
  @IsString()
  format: 'csv' | 'jsonl';

  @Matches(/^[^\p{Cc}\p{Cs}]{1,255}$/u, reports('issuer_invalid', { max: 255 }))
  @IsString()
  @MayBeAbsent()
  issuer?: string;

  @IsBoolean()
  replacePasswords = false;

  @IsBoolean()
  dryRun = false;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    user_unknown: { readonly login: string; readonly mayBeDeleted: boolean };
    user_ambiguous: { readonly login: string; readonly names: readonly string[] };
  }
}

/** Accepts email, username, external_id, or `id:` and the id. @throws AdministrationError unless one user matches */
export async function findUser(
  accounts: UserAccountStore,
  login: string,
  mayBeDeleted = false,
): Promise<User> {
  const [user, ...others] = await accounts.matching(login);
  if (!user) throw unknownUser(login, mayBeDeleted);
  if (others.length === 0) return user;
  const names = [user, ...others].map(
    ({ id, email, issuer, externalId }) =>
      `id:${id} (${printable(issuer === null ? email : `${email}, ${externalId} of ${issuer}`)})`,
  );
  throw refused('conflict', problem('user_ambiguous', [], { login, names }));
}

/** Finds a user by email, username, or `id:` and the id. @throws AdministrationError */
export async function userIdOf(users: UserStore, login: string): Promise<number> {
  const [, id = ''] = /^id:(.+)$/.exec(login) ?? [];
  const user = isUserId(id) ? await users.find(Number(id)) : await users.findByLogin(login);
  if (user) return user.id;
  throw unknownUser(login);
}

/** @param mayBeDeleted true where the id of a deleted user is accepted */
export function unknownUser(login: string, mayBeDeleted = false): AdministrationError {
  return refused('unknown', problem('user_unknown', [], { login, mayBeDeleted }));
}
