import { IsEmail, IsIn, IsOptional, Matches, ValidateBy } from 'class-validator';
import { LOCALES } from '#oauth/locale.js';
import { PasswordRule } from './password.dto.js';

/** Options of `user create`, with the password read from stdin. */
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

  @IsOptional()
  @ValidateBy({
    name: 'timeZone',
    validator: {
      validate: isTimeZone,
      defaultMessage: () => '--time-zone must be an IANA name, like Europe/Berlin or UTC',
    },
  })
  timeZone?: string;

  @IsOptional()
  @IsIn(LOCALES, { message: `--locale must be one of ${LOCALES.join(', ')}, with no region` })
  locale?: string;

  @IsOptional()
  @PasswordRule()
  password?: string;
}

function isTimeZone(value: unknown): boolean {
  // Some versions of Node also take offsets like +01:00, which know no daylight saving time.
  if (typeof value !== 'string' || !/^[A-Z][A-Za-z0-9_+/-]{0,63}$/.test(value)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: value }));
  } catch {
    return false;
  }
}
