import { Injectable } from '@nestjs/common';
import { UserStore } from '#database/user/user.store.js';
import type { User } from '#database/user/user.js';
import { isCurrent } from './is-current.js';
import { SessionService } from './session.service.js';

/** Somebody who is logged in, and the cookie that their forms answer to. */
export interface CurrentAccount {
  readonly cookie: string;
  readonly user: User;
}

/** Finds out whose account a page is about. */
@Injectable()
export class CurrentAccountService {
  constructor(
    private readonly sessions: SessionService,
    private readonly users: UserStore,
  ) {}

  /**
   * One Redis command and one query. Deletes a session whose user is deleted, disabled or has logged out everywhere:
   * otherwise the login page would redirect back here in a loop.
   *
   * @returns null when nobody is logged in
   */
  async find(cookieHeader: string | undefined): Promise<CurrentAccount | null> {
    const { cookie, session } = await this.sessions.recognise(cookieHeader);
    if (cookie === null || !session) return null;
    const user = await this.users.find(session.userId);
    if (user && isCurrent(session, user)) return { cookie, user };
    await this.sessions.end(cookie);
    return null;
  }
}
