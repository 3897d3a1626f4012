import { Injectable } from '@nestjs/common';
import type { User } from '#users/user.js';
import { UserStore } from '#users/user.store.js';
import type { ErrorDetail } from '#oauth/oauth-error.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { FormFields } from '../session/csrf.guard.js';
import { type LoginRedirect, SessionService } from '../session/session.service.js';
import type { MessageId } from '../ui/i18n/messages.js';
import { PasswordService } from './password.service.js';
import { DeviceCookie } from './throttle/device-cookie.js';
import {
  type Attempt,
  LoginThrottleService,
  type ThrottledAttempt,
} from './throttle/login-throttle.service.js';
import { LogoutContinuation } from '../logout/logout.service.js';
import { FLASH_QUERY } from '../session/flash-message.store.js';
import { withQuery } from '../urls.js';

/** Maximum lengths in characters. An e-mail address has at most 254 characters (RFC 5321 4.5.3.1.3). */
export const LOGIN_LIMITS = { username: 254, password: 256 } as const;

export interface LoginProblem {
  readonly id: Extract<MessageId, `login.problem.${string}`>;
  readonly values?: Readonly<Record<string, number>>;
}

/** `problem` is shown to the user, and `detail` is logged. */
export interface LoginRefusal {
  readonly status: 400 | 401 | 403 | 429;
  readonly problem: LoginProblem;
  /** Seconds until the next attempt is allowed; only with status 429. */
  readonly retryAfter?: number;
  readonly detail: ErrorDetail;
}

export interface LoginSuccess {
  readonly user: User;
  /** Value of the new session cookie. */
  readonly session: string;
}

export interface LoginContext {
  readonly address: string | undefined;
  readonly cookies: string | undefined;
  readonly query: string;
}

interface VerifiedPassword {
  readonly user: User;
  readonly attempt: Attempt;
}

@Injectable()
export class LoginService {
  constructor(
    private readonly users: UserStore,
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottleService,
    private readonly devices: DeviceCookie,
    private readonly sessions: SessionService,
  ) {}

  async logIn(fields: FormFields, context: LoginContext): Promise<LoginSuccess | LoginRefusal> {
    const result = await this.verify(fields, context);
    if (!('user' in result)) return result;
    const { user, attempt } = result;
    const { cookies, query } = context;
    const [session] = await Promise.all([
      this.sessions.begin(cookies, user, query),
      this.throttle.succeeded(attempt),
    ]);
    return { user, session };
  }

  /**
   * Returns the same problem, after the same time, for an unknown user and a wrong password. Only the right password
   * reveals that an account is disabled.
   */
  private async verify(
    { username, password }: FormFields,
    { address, cookies }: LoginContext,
  ): Promise<VerifiedPassword | LoginRefusal> {
    if (typeof username !== 'string' || typeof password !== 'string')
      return badRequest({ id: 'login.problem.missing' });
    if (username.length > LOGIN_LIMITS.username)
      return badRequest({ id: 'login.problem.username_long', values: { max: LOGIN_LIMITS.username } });
    if (password.length > LOGIN_LIMITS.password)
      return badRequest({ id: 'login.problem.password_long', values: { max: LOGIN_LIMITS.password } });
    // Counts before the account lookup, so that the time of a rejection does not reveal whether the account exists.
    const device = this.devices.recognize(cookies, username);
    const counted = await this.throttle.count(username, address, device);
    if (counted.outcome === 'refused') return throttled(counted);
    let attempt = counted;
    try {
      const account = await this.users.credentialsOf(username.trim());
      const { user } = account;
      if (user && attempt.outcome === 'device' && device && !this.devices.isOf(device, user)) {
        // The name now belongs to another user, who has not logged in on this device.
        const recounted = await this.throttle.count(username, address, null);
        if (recounted.outcome === 'refused') return throttled(recounted);
        attempt = recounted;
      }
      const matches = await this.passwords.verify(password, account, attempt.outcome === 'device');
      if (user && matches && !user.disabled) return { user, attempt };
      if (user && matches) return await this.disabled(user, attempt);
      // The user name is not logged, because people accidentally type their password there.
      const detail: ErrorDetail = user
        ? { check: 'password_mismatch', user_id: user.id }
        : { check: 'user_unknown' };
      return { status: 401, problem: { id: 'login.problem.wrong' }, detail };
    } catch (error) {
      await this.throttle.cancel(attempt);
      throw error;
    }
  }

  private async disabled({ id }: User, attempt: Attempt): Promise<LoginRefusal> {
    await this.throttle.succeeded(attempt);
    const detail: ErrorDetail = { check: 'user_disabled', user_id: id };
    return { status: 403, problem: { id: 'login.problem.disabled' }, detail };
  }
}

/** Uses the same message for every counter, because the name of the counter would reveal attempts of other people. */
function throttled({ counter, seconds }: ThrottledAttempt): LoginRefusal {
  return {
    status: 429,
    retryAfter: seconds,
    problem: { id: 'login.problem.throttled', values: { minutes: Math.ceil(seconds / 60) } },
    detail: { check: 'login_throttled', counter, retry_after: seconds },
  };
}

function badRequest(problem: LoginProblem): LoginRefusal {
  return { status: 400, problem, detail: { check: 'login_form_incomplete', problem: problem.id } };
}

@Injectable()
export class PasswordLogout extends LogoutContinuation {
  readonly landing = withQuery(ENDPOINTS.login, FLASH_QUERY);

  providerUrl(): Promise<null> {
    return Promise.resolve(null);
  }

  logInAgain(_browser: unknown, query: string): Promise<LoginRedirect> {
    return Promise.resolve({ location: withQuery(ENDPOINTS.login, query), loginCookie: null });
  }
}
