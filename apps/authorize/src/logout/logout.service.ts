import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { addAuditEvent } from '#audit/request-events.js';
import { UserStore } from '#users/user.store.js';
import { LogoutStore } from '#events/logout.store.js';
import { addLogContext } from '#platform/logging/request-log.js';
import {
  type EndedSession,
  type LoginRedirect,
  UserSessionCookie,
  SessionService,
} from '../session/session.service.js';
import type { UserSession } from '../session/user-session.store.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import type { FlashMessage } from '../ui/components.js';
import { LogoutReturnStore } from './logout-return.store.js';

export abstract class LogoutContinuation {
  /** Page of this app after a log-out. */
  abstract readonly landing: string;

  /** URL at the provider, which returns to ENDPOINTS.logout. Never throws, because the session here has ended. */
  abstract providerUrl(cookie: string, session: UserSession): Promise<string | null>;

  /** Continues an authorization request with a new login, for example as another user. */
  abstract logInAgain(
    browser: { readonly cookies: string | undefined; readonly address: string },
    query: string,
  ): Promise<LoginRedirect>;
}

export interface LoggedOut {
  readonly location: string;
  /** Value of a new session cookie. */
  readonly cookie: string;
}

@Injectable()
export class LogoutService {
  constructor(
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly cookies: UserSessionCookie,
    private readonly logouts: LogoutStore,
    private readonly continuation: LogoutContinuation,
    private readonly flashMessages: FlashMessageStore,
    private readonly returns: LogoutReturnStore,
  ) {}

  /** Ends the session here, then at the login provider. @param returnTo URL of the requesting application */
  async logOut(request: IncomingMessage, returnTo: string | null = null): Promise<LoggedOut> {
    addLogContext(request, { outcome: 'logged out' });
    return this.leave(request, returnTo, { id: 'flash.logged_out' });
  }

  /** @returns null without a session, unless the sessions were ended and the response may have been lost */
  async logOutEverywhere(request: IncomingMessage): Promise<LoggedOut | null> {
    const { cookie } = request.headers;
    const account = await this.sessions.findAccount(cookie);
    if (account) {
      const { id: userId } = account.user;
      await this.users.endSessions(userId);
      addLogContext(request, { user_id: userId, outcome: 'logged out everywhere' });
      addAuditEvent(request, 'login.ended');
    } else if (!(await this.sessions.hasEndedEverywhere(cookie))) return null;
    return this.leave(request, null, { id: 'flash.logged_out_everywhere' });
  }

  /**
   * Ends the session here, but not at the login provider.
   * @param isRecorded true if the caller has recorded the end of all sessions of the user
   */
  async end(request: IncomingMessage, isRecorded = false): Promise<EndedSession | null> {
    const cookie = this.cookies.read(request.headers.cookie);
    // Recorded first, so that the session stays if PostgreSQL is unavailable, and the log-out can be repeated.
    const ending = isRecorded ? null : await this.sessions.findEnding(cookie);
    if (ending) await this.logouts.sessionEnded(ending.sessionId);
    const ended = await this.sessions.end(cookie);
    if (!ended) return null;
    addLogContext(request, { user_id: ended.session.userId });
    addAuditEvent(request, 'login.ended');
    return ended;
  }

  get landing(): string {
    return this.continuation.landing;
  }

  /** @returns URL of the application after the log-out at the login provider; null if no URL is stored */
  async storedReturn(cookieHeader: string | undefined): Promise<string | null> {
    return this.returns.consume(this.cookies.read(cookieHeader));
  }

  async message(cookie: string | null): Promise<FlashMessage> {
    const saved = cookie === null ? null : await this.flashMessages.consume(cookie, FLASH_QUERY);
    return saved ?? { id: 'flash.logged_out' };
  }

  private async leave(
    request: IncomingMessage,
    returnTo: string | null,
    message: FlashMessage,
  ): Promise<LoggedOut> {
    const ended = await this.end(request, message.id === 'flash.logged_out_everywhere');
    const next = this.cookies.generate();
    const atProvider = ended && (await this.continuation.providerUrl(ended.cookie, ended.session));
    // Otherwise requests without a session could fill Redis with messages.
    const hadSession = ended !== null || (await this.sessions.hasEnded(request.headers.cookie));
    if (returnTo === null && hadSession) await this.flashMessages.save(next, message);
    if (returnTo !== null && atProvider !== null) await this.returns.save(next, returnTo);
    return { location: atProvider ?? returnTo ?? this.continuation.landing, cookie: next };
  }
}
