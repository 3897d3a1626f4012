import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Login } from '#grants/grant.js';
import type { User } from '#users/user.js';
import { UserStore } from '#users/user.store.js';
import { LogoutStore } from '#events/logout.store.js';
import { RandomCookie } from '#ui/browser-cookie.js';
import { encrypt } from '#platform/encryption.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import type { SentForm } from './sent-form.js';
import {
  type ExternalSession,
  idTokenKey,
  type UserSession,
  UserSessionStore,
} from './user-session.store.js';

export interface Visitor {
  readonly cookie: string | null;
  readonly session: UserSession | null;
}

/** Logged-in user, the cookie to which the user's forms are bound, and the id by which grants record the session. */
export interface CurrentAccount {
  readonly cookie: string;
  readonly user: User;
  readonly session: UserSession;
  readonly sessionId: string;
}

export type EndedSession = Omit<CurrentAccount, 'user'>;

/** Authorization request whose grant records the login. */
export interface LoginRequest {
  readonly query: string;
  /** True if the request has `max_age` or `prompt=login`. */
  readonly isForced: boolean;
  readonly form: SentForm | null;
}

/** Milliseconds for which a login is fresh for its authorization request. Must be enough to read a consent page. */
const FRESH_LOGIN_MS = 10 * 60_000;

const MAX_ID_TOKEN = 4_096;

/** Before a login, the cookie only keys CSRF tokens and messages. A login replaces the cookie. */
@Injectable()
export class UserSessionCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('session', configuration.AUTH_URL);
  }
}

@Injectable()
export class SessionService {
  constructor(
    private readonly cookies: UserSessionCookie,
    private readonly sessions: UserSessionStore,
    private readonly users: UserStore,
    private readonly logouts: LogoutStore,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Runs one Redis command, or two after a login at a provider that sends a `sid`. */
  async findVisitor(cookieHeader: string | undefined): Promise<Visitor> {
    const cookie = this.cookies.read(cookieHeader);
    const session = cookie === null ? null : await this.sessions.use(cookie);
    const { SESSION_LIFETIME } = this.configuration;
    const expired =
      session !== null &&
      (this.clock() - session.authTime > SESSION_LIFETIME * 1000 ||
        (await this.sessions.isEnded(session.external?.sid)));
    return { cookie, session: expired ? null : session };
  }

  /** Deletes an invalid session, which would cause a redirect loop with the login page. @returns null without a user */
  async findAccount(cookieHeader: string | undefined): Promise<CurrentAccount | null> {
    const { cookie, session } = await this.findVisitor(cookieHeader);
    if (cookie === null || !session) return null;
    const user = await this.users.find(session.userId);
    if (user && isCurrent(session, user))
      return { cookie, user, session, sessionId: sessionIdOf(cookie, session) };
    await this.sessions.delete(cookie);
    return null;
  }

  /**
   * Never keeps the old cookie, which an attacker may have planted (session fixation). If the user of the old session
   * logs in again, keeps the session's id in grants, so that a log-out notifies all its applications.
   * @returns the new cookie
   */
  async begin(
    cookieHeader: string | undefined,
    user: Pick<User, 'id' | 'sessionGeneration'>,
    query: string,
    external: ExternalSession | null = null,
  ): Promise<string> {
    const cookie = this.cookies.generate();
    const continued = await this.endPrevious(this.cookies.read(cookieHeader), user, external);
    const session: UserSession = {
      userId: user.id,
      generation: user.sessionGeneration,
      authTime: this.clock(),
      loginFor: digestOf(query),
      ...(continued !== null && { id: continued }),
      ...(external && { external: withEncryptedIdToken(external, cookie) }),
    };
    const id = sessionIdOf(cookie, session);
    await Promise.all([
      this.sessions.create(cookie, session),
      external?.sid !== undefined && this.sessions.addToExternal(external.sid, id),
    ]);
    return cookie;
  }

  /** @returns id (as in grants) of the previous session if the new login continues that session, otherwise null */
  private async endPrevious(
    cookie: string | null,
    user: Pick<User, 'id' | 'sessionGeneration'>,
    external: ExternalSession | null,
  ): Promise<string | null> {
    const previous = cookie === null ? null : await this.sessions.take(cookie);
    if (cookie === null || !previous) return null;
    const id = sessionIdOf(cookie, previous);
    if (previous.userId !== user.id) {
      await this.logouts.sessionEnded(id);
      return null;
    }
    // Does not continue a session that was ended everywhere or by the login provider, which notifies its applications.
    if (previous.generation !== user.sessionGeneration) return null;
    const sid = previous.external?.sid;
    if (sid === undefined) return id;
    if (await this.sessions.isEnded(sid)) return null;
    if (sid !== external?.sid) await this.sessions.removeFromExternal(sid, id);
    return id;
  }

  /**
   * Returns true for a fresh login that was made for this request (prompt=login, OpenID Connect Core 3.1.2.1), and that
   * no other form has consumed.
   */
  isLoginFor(session: UserSession | null, query: string, form: Pick<SentForm, 'id'> | null = null): boolean {
    return (
      session !== null &&
      (session.loginFor === digestOf(query) || (form !== null && session.answered === form.id)) &&
      this.clock() - session.authTime < FRESH_LOGIN_MS
    );
  }

  /** After an external login without `auth_time`, our start time counts only if this request forced the login. */
  loginOf(cookie: string, session: UserSession, { query, isForced, form }: LoginRequest): Login {
    const known = session.external ? session.external.authTime : session.authTime;
    const authTime = known ?? (isForced && this.isLoginFor(session, query, form) ? session.authTime : null);
    return {
      authTime: authTime === null ? null : Math.floor(authTime / 1000),
      session: sessionIdOf(cookie, session),
    };
  }

  /**
   * Consumes the login of this request. Returns true for only one of several concurrent forms, also if it is repeated.
   */
  async consumeLogin({ cookie, session }: Visitor, query: string, form: SentForm | null): Promise<boolean> {
    if (cookie === null || session === null || !this.isLoginFor(session, query, form)) return false;
    if (session.loginFor === null) return true;
    const answered = { ...session, loginFor: null, ...(form && { answered: form.id }) };
    if (await this.sessions.replace(cookie, session, answered)) return true;
    const current = await this.sessions.use(cookie);
    return form !== null && current?.answered === form.id;
  }

  /** Returns the ended session again for a minute, because the response may have been lost; null without a session. */
  async end(cookie: string | null): Promise<EndedSession | null> {
    const session = cookie === null ? null : await this.sessions.delete(cookie);
    return cookie === null || !session ? null : { cookie, session, sessionId: sessionIdOf(cookie, session) };
  }

  /** Returns the session that `end` would return. */
  async findEnding(cookie: string | null): Promise<EndedSession | null> {
    if (cookie === null) return null;
    const session = (await this.sessions.use(cookie)) ?? (await this.sessions.findEnded(cookie));
    return session && { cookie, session, sessionId: sessionIdOf(cookie, session) };
  }

  /** Returns true for a session that ended in the last minute, if the browser did not get the response. */
  async hasEnded(cookieHeader: string | undefined): Promise<boolean> {
    return (await this.findEnded(cookieHeader)) !== null;
  }

  /** Returns true for a session that ended with all sessions of its user. */
  async hasEndedEverywhere(cookieHeader: string | undefined): Promise<boolean> {
    const session = await this.findEnded(cookieHeader);
    const user = session && (await this.users.find(session.userId));
    return user ? user.sessionGeneration !== session.generation : false;
  }

  private async findEnded(cookieHeader: string | undefined): Promise<UserSession | null> {
    const cookie = this.cookies.read(cookieHeader);
    return cookie === null ? null : this.sessions.findEnded(cookie);
  }
}

/** Returns the id of a session in grants and ID tokens. The cookie cannot be computed from this id. */
function sessionIdOf(cookie: string, { id }: Pick<UserSession, 'id'>): string {
  if (id !== undefined) return id;
  return hash('sha256', `session of ID tokens\n${cookie}`, 'base64url');
}

/** Returns false if the user is disabled, or if all sessions of the user were ended after this session started. */
export function isCurrent(
  session: UserSession,
  user: Pick<User, 'id' | 'sessionGeneration' | 'disabled'>,
): boolean {
  return session.userId === user.id && session.generation === user.sessionGeneration && !user.disabled;
}

/** Encrypts the ID token, and drops a token that is too long for a log-out URL. */
function withEncryptedIdToken({ idToken, ...rest }: ExternalSession, cookie: string): ExternalSession {
  if (idToken === undefined || idToken.length > MAX_ID_TOKEN) return rest;
  return { ...rest, idToken: encrypt(idToken, idTokenKey(cookie)) };
}

function digestOf(query: string): string {
  return hash('sha256', query, 'base64url');
}

export interface LoginRedirect {
  readonly location: string;
  /** Value of a new login cookie; null if the browser needs no new cookie. */
  readonly loginCookie: string | null;
}

/** Binds a login to the browser (RFC 6749 10.12). Unlike the session cookie, it survives a login in another tab. */
@Injectable()
export class LoginCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('login', configuration.AUTH_URL);
  }
}
