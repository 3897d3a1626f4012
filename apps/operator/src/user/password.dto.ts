import { Matches } from 'class-validator';

/** The password policy of the `user` commands. */
export const PasswordRule = (): PropertyDecorator =>
  Matches(/^[^\p{Cc}]{8,256}$/u, {
    message: 'the password on stdin must be one line of 8 to 256 characters, with no control characters',
  });

/** Input of `user set-password`. */
export class PasswordDto {
  @PasswordRule()
  password: string;
}
