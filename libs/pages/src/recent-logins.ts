import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '#platform/clock.js';

const RECENT_LOGIN_MS = 10 * 60_000;

/** The login is too old for a dangerous step. */
export class LoginTooOldError extends Error {
  constructor() {
    super('the login is too old');
    this.name = 'LoginTooOldError';
  }
}

@Injectable()
export class RecentLogins {
  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  isRecent({ authTime }: { readonly authTime: number }): boolean {
    return this.clock() - authTime <= RECENT_LOGIN_MS;
  }

  /** @throws LoginTooOldError, for which `FormInterceptor` keeps the form and requires a login */
  require(account: { readonly authTime: number }): void {
    if (!this.isRecent(account)) throw new LoginTooOldError();
  }
}

export class LoginRequiredError extends Error {
  /**
   * @param page URL to open after the login
   * @param reason `again`: the login is too old for a dangerous step
   */
  constructor(
    readonly page: string,
    readonly reason: 'first' | 'again',
  ) {
    super('login required');
    this.name = 'LoginRequiredError';
  }
}

export function loginUrl(page: string, isAgain: boolean): string {
  const query = new URLSearchParams({ page, ...(isAgain && { again: '' }) });
  return `/login?${query.toString()}`;
}
