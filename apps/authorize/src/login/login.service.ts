import { Injectable } from '@nestjs/common';
import { verifyPassword } from '#database/user/password.js';
import { UserStore } from '#database/user/user.store.js';
import type { User } from '#database/user/user.js';
import type { FormFields } from '../session/form-guard.js';
import type { MessageId } from '../ui/i18n/catalogue.js';
import { DeviceCookie } from './throttle/device-cookie.js';
import { type Attempt, LoginThrottle, type Throttled } from './throttle/login-throttle.service.js';
import { PasswordGate } from './password-gate.js';

/** Longest accepted values, in characters. An e-mail address has 254 at most (RFC 5321 4.5.3.1.3). */
export const LOGIN_LIMITS = { username: 254, password: 256 } as const;

/** What was wrong, in the words of the catalogue. */
export interface LoginProblem {
  readonly id: Extract<MessageId, `login.problem.${string}`>;
  readonly values?: Readonly<Record<string, number>>;
}

/** A login that did not work: what to tell the user, and what to tell the operator. */
export interface LoginRefusal {
  readonly status: 400 | 401 | 403 | 429;
  readonly problem: LoginProblem;
  /** Seconds until another try is let through; with 429 only. */
  readonly retryAfter?: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A login that worked; whoever begins the session settles the try. */
export interface LoginSuccess {
  readonly user: User;
  readonly attempt: Attempt;
}

/** Where a login comes from. */
export interface LoginOrigin {
  readonly address: string | undefined;
  /** The Cookie header. */
  readonly cookies: string | undefined;
}

/** Checks user name and password. */
@Injectable()
export class LoginService {
  constructor(
    private readonly users: UserStore,
    private readonly gate: PasswordGate,
    private readonly throttle: LoginThrottle,
    private readonly devices: DeviceCookie,
  ) {}

  /**
   * An unknown user, a wrong password and a disabled user's wrong password get the same answer after the same time. Only the
   * right password reveals that an account is disabled. Costs one Redis round trip before the check, and for a successful
   * login one after it, pipelined with the commands for the new session; a throttled attempt costs one script only.
   */
  async authenticate(
    { username, password }: FormFields,
    { address, cookies }: LoginOrigin,
  ): Promise<LoginSuccess | LoginRefusal> {
    if (typeof username !== 'string' || typeof password !== 'string')
      return badRequest({ id: 'login.problem.missing' });
    if (username.length > LOGIN_LIMITS.username)
      return badRequest({ id: 'login.problem.username_long', values: { max: LOGIN_LIMITS.username } });
    if (password.length > LOGIN_LIMITS.password)
      return badRequest({ id: 'login.problem.password_long', values: { max: LOGIN_LIMITS.password } });
    // Before the account is looked up: how long a refusal takes must not tell whether there is one.
    const device = this.devices.recognise(cookies, username);
    const taken = await this.throttle.take(username, address, device);
    if (taken.outcome === 'refused') return throttled(taken);
    let attempt = taken;
    try {
      const account = await this.users.findByLogin(username.trim());
      if (account && attempt.outcome === 'device' && device && !this.devices.isOf(device, account.user)) {
        // The name was given to somebody else since, to whom this is a device like any other.
        const again = await this.throttle.take(username, address, null);
        if (again.outcome === 'refused') return throttled(again);
        attempt = again;
      }
      const verify = () => verifyPassword(password, account?.passwordHash ?? null);
      const matches = await this.gate.run(verify, attempt.outcome === 'device');
      if (account && matches && !account.user.disabled) return { user: account.user, attempt };
      if (account && matches) return await this.disabled(account.user, attempt);
      // Never what was typed as user name: people type their password there.
      const detail = account ? { check: 'password', user_id: account.user.id } : { check: 'user' };
      return { status: 401, problem: { id: 'login.problem.wrong' }, detail };
    } catch (error) {
      await this.throttle.giveBack(attempt);
      throw error;
    }
  }

  private async disabled({ id }: User, attempt: Attempt): Promise<LoginRefusal> {
    await this.throttle.settle(attempt);
    const detail = { check: 'disabled', user_id: id };
    return { status: 403, problem: { id: 'login.problem.disabled' }, detail };
  }
}

/** The same words for every counter: which one refused tells how others try. */
function throttled({ counter, seconds }: Throttled): LoginRefusal {
  return {
    status: 429,
    retryAfter: seconds,
    problem: { id: 'login.problem.throttled', values: { minutes: Math.ceil(seconds / 60) } },
    detail: { check: 'login_throttle', counter, retry_after: seconds },
  };
}

function badRequest(problem: LoginProblem): LoginRefusal {
  return { status: 400, problem, detail: { check: 'login_form', problem: problem.id } };
}
