import { Injectable } from '@nestjs/common';
import { verifyPassword } from '#directory/password.js';
import { UserStore } from '#directory/user.store.js';
import type { User } from '#directory/user.js';
import type { FormFields } from '../session/form-guard.js';
import { PasswordGate } from './password-gate.js';

/** Longest accepted values, in characters. An e-mail address has 254 at most (RFC 5321 4.5.3.1.3). */
export const LOGIN_LIMITS = { username: 254, password: 256 } as const;

/** A login that did not work: what to tell the user, and what to tell the operator. */
export interface LoginRefusal {
  readonly status: 400 | 401;
  readonly problem: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Checks user name and password. */
@Injectable()
export class LoginService {
  constructor(
    private readonly users: UserStore,
    private readonly gate: PasswordGate,
  ) {}

  /** Unknown user and wrong password get the same answer after the same time. */
  async authenticate({ username, password }: FormFields): Promise<{ user: User } | LoginRefusal> {
    if (typeof username !== 'string' || typeof password !== 'string')
      return badRequest('Enter your e-mail address or user name, and your password.');
    if (username.length > LOGIN_LIMITS.username)
      return badRequest(
        `The e-mail address or user name is longer than ${LOGIN_LIMITS.username} characters.`,
      );
    if (password.length > LOGIN_LIMITS.password)
      return badRequest(`The password is longer than ${LOGIN_LIMITS.password} characters.`);
    const account = await this.users.findByLogin(username.trim());
    const matches = await this.gate.run(() => verifyPassword(password, account?.passwordHash ?? null));
    if (account && matches) return { user: account.user };
    // Never what was typed as user name: people type their password there.
    const detail = account ? { check: 'password', user_id: account.user.id } : { check: 'user' };
    return { status: 401, problem: 'The user name or the password is not right.', detail };
  }
}

function badRequest(problem: string): LoginRefusal {
  return { status: 400, problem, detail: { check: 'login_form', problem } };
}
