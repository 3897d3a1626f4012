import { IsEmail, IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { isTimeZone } from '#database/user/user-profile.js';
import { LOCALES } from '#oauth/locale.js';
import { Rule } from '../command-line/input.js';

const PasswordRule = (): PropertyDecorator =>
  Matches(/^[^\p{Cc}]{8,256}$/u, {
    message: 'the password on stdin must be one line of 8 to 256 characters, with no control characters',
  });

export class NewUserDto {
  @IsEmail({}, { message: '--email must be an email address, like ada@example.com' })
  email: string;

  @Matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message:
      '--username must be 1 to 64 letters, digits, dots, hyphens and underscores, and start with a letter or digit',
  })
  username: string;

  @Matches(/^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u, {
    message: '--name must be 1 to 100 printable characters with no space at either end',
  })
  name: string;

  @Rule(({ timeZone }: NewUserDto) =>
    timeZone === undefined || isTimeZone(timeZone)
      ? []
      : ['--time-zone must be an IANA name, like Europe/Berlin or UTC'],
  )
  timeZone?: string;

  @IsOptional()
  @IsIn(LOCALES, { message: `--locale must be one of ${LOCALES.join(', ')}, with no region` })
  locale?: string;

  @IsOptional()
  @PasswordRule()
  password?: string;
}

export class UserListDto {
  search?: string;

  @IsInt({ message: '--limit must be a number from 1 to 1000' })
  @Min(1, { message: '--limit must be a number from 1 to 1000' })
  @Max(1000, { message: '--limit must be a number from 1 to 1000' })
  limit: number = 100;

  @IsOptional()
  @IsInt({ message: '--after must be the id of a user' })
  @Min(-(2 ** 31), { message: '--after must be the id of a user' })
  @Max(2 ** 31 - 1, { message: '--after must be the id of a user' })
  after?: number;
}

export class UserChangesDto {
  @Rule(({ locale }: UserChangesDto) => {
    if (locale === undefined) return ['nothing to change: give --locale'];
    if (locale === 'none' || (LOCALES as readonly string[]).includes(locale)) return [];
    return [`--locale must be one of ${LOCALES.join(', ')}, with no region, or none`];
  })
  locale: string;
}

export class PasswordDto {
  @PasswordRule()
  password: string;
}
