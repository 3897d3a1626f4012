import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Identity, User } from '#database/user/user.js';
import { UserStore } from '#database/user/user.store.js';
import { AuthorizeConfiguration, CLOCK, type Clock } from '../authorize.configuration.js';

import { cookieName } from '../ui/cookie-name.js';
import { seal } from './sealed.js';
import { type ExternalSession, type Session, SessionStore } from './session.store.js';

/** The browser that sent a request. */
export interface Visitor {
  /** Null if the browser sent none. */
  readonly cookie: string | null;
  /** Null if nobody is logged in. */
  readonly session: Session | null;
}

/** A logged-in user, and the cookie that the user's forms are bound to. */
export interface CurrentAccount {
  readonly cookie: string;
  readonly user: User;
}

/** How long after a login it counts as made for its authorization request, in milliseconds: enough to read a consent page. */
const FRESH_LOGIN_MS = 10 * 60_000;

/** Longest ID token that a session keeps, in characters. */
const MAX_ID_TOKEN = 4_096;

/** A cookie of 256 random bits that is kept until the browser is closed. */
export abstract class RandomCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  protected constructor(name: string, { AUTH_URL }: AuthorizeConfiguration) {
    const secure = AUTH_URL.startsWith('https:');
    this.name = cookieName(name, secure);
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]{43}) *(?:;|$)`);
    // Lax: users arrive by links and redirects from other sites, and must be recognized then.
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** Reads the cookie from a Cookie header; null for a missing or malformed cookie. */
  read(header: string | undefined): string | null {
    return this.inHeader.exec(header ?? '')?.[1] ?? null;
  }

  generate(random: (size: number) => Buffer = randomBytes): string {
    return random(32).toString('base64url');
  }

  /** The Set-Cookie header that sets it. */
  set(value: string): string {
    return `${this.name}=${value}; ${this.attributes}`;
  }

  /** The Set-Cookie header that deletes it. */
  clear(): string {
    return `${this.name}=; ${this.attributes}; Max-Age=0`;
  }
}

/**
 * The session cookie. Before the login nothing is stored for it, and it only keys the CSRF tokens. The login replaces it by
 * a new value, which names the session.
 */
@Injectable()
export class SessionCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('session', configuration);
  }
}

/** Begins, finds and ends sessions. */
@Injectable()
export class SessionService {
  constructor(
    private readonly cookies: SessionCookie,
    private readonly sessions: SessionStore,
    private readonly users: UserStore,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Finds the session of a Cookie header; one Redis command, two after a login by a provider that names its sessions. */
  async findVisitor(cookieHeader: string | undefined): Promise<Visitor> {
    const cookie = this.cookies.read(cookieHeader);
    const session = cookie === null ? null : await this.sessions.use(cookie);
    const { SESSION_LIFETIME } = this.configuration;
    const over =
      session !== null &&
      (this.clock() - session.authTime > SESSION_LIFETIME * 1000 ||
        (session.external !== undefined && (await this.isEnded(session.external))));
    return { cookie, session: over ? null : session };
  }

  /**
   * Finds the logged-in user: one Redis command and one query. Deletes a session whose user is deleted, disabled or has
   * logged out everywhere: otherwise the login page would redirect back in a loop.
   *
   * @returns null if nobody is logged in
   */
  async findAccount(cookieHeader: string | undefined): Promise<CurrentAccount | null> {
    const { cookie, session } = await this.findVisitor(cookieHeader);
    if (cookie === null || !session) return null;
    const user = await this.users.find(session.userId);
    if (user && isCurrent(session, user)) return { cookie, user };
    await this.sessions.delete(cookie);
    return null;
  }

  /**
   * Begins a session under a new cookie and deletes that of the old cookie: a value that somebody else planted in the
   * browser never becomes a login (session fixation).
   *
   * @param query of the authorization request that the login was for
   * @param external of the product's own login
   * @returns the value of the new cookie
   */
  async begin(
    cookieHeader: string | undefined,
    user: Pick<User, 'id' | 'sessionGeneration'>,
    query: string,
    external: ExternalSession | null = null,
  ): Promise<string> {
    const cookie = this.cookies.generate();
    const session = {
      userId: user.id,
      generation: user.sessionGeneration,
      authTime: this.clock(),
      loginFor: digestOf(query),
      ...(external && { external: sealed(external, cookie) }),
    };
    await Promise.all([this.sessions.create(cookie, session), this.end(this.cookies.read(cookieHeader))]);
    return cookie;
  }

  /** Whether the user has just logged in for this authorization request (prompt=login, OpenID Connect Core 3.1.2.1). */
  isLoginFor(session: Session | null, query: string): boolean {
    return (
      session !== null &&
      session.loginFor === digestOf(query) &&
      this.clock() - session.authTime < FRESH_LOGIN_MS
    );
  }

  /** Consumes the login that was made for this request. Of simultaneous answers to the request one gets true. */
  async consumeLogin({ cookie, session }: Visitor, query: string): Promise<boolean> {
    if (cookie === null || session === null || !this.isLoginFor(session, query)) return false;
    return this.sessions.replace(cookie, session, { ...session, loginFor: null });
  }

  /**
   * Ends the session that belongs to a session of the product's own login, and any that will (a login may be under way), for as
   * long as a session can live.
   */
  async endExternal(sid: string): Promise<void> {
    await this.sessions.endExternal(sid, this.configuration.SESSION_LIFETIME);
  }

  /** Records that a user has a session without a `sid`, for as long as it can live: no `sid` of a logout token will name it. */
  async addUnnamed(identity: Identity): Promise<void> {
    await this.sessions.addUnnamed(nameOf(identity), this.configuration.SESSION_LIFETIME);
  }

  /** @returns true if the user may have a session without a `sid` */
  async hasUnnamed(identity: Identity): Promise<boolean> {
    return this.sessions.hasUnnamed(nameOf(identity));
  }

  /** Whether the session of the product's own login has ended. */
  async isEnded({ sid }: ExternalSession): Promise<boolean> {
    return sid !== undefined && this.sessions.isEnded(sid);
  }

  /** @returns the user whose session it was; null if there was none */
  async end(cookie: string | null): Promise<{ userId: number } | null> {
    return cookie === null ? null : this.sessions.delete(cookie);
  }
}

/**
 * Whether a session is still valid. "Log out everywhere" invalidates every earlier generation, and disabling a user
 * invalidates all sessions.
 */
export function isCurrent(
  session: Session,
  user: Pick<User, 'id' | 'sessionGeneration' | 'disabled'>,
): boolean {
  return session.userId === user.id && session.generation === user.sessionGeneration && !user.disabled;
}

/** An issuer contains no space, so the name is unambiguous. */
function nameOf({ issuer, externalId }: Identity): string {
  return `${issuer} ${externalId}`;
}

/** Without an ID token that is too long for the address of a log-out. */
function sealed({ idToken, ...rest }: ExternalSession, cookie: string): ExternalSession {
  if (idToken === undefined || idToken.length > MAX_ID_TOKEN) return rest;
  return { ...rest, idToken: seal(idToken, cookie) };
}

function digestOf(query: string): string {
  return createHash('sha256').update(query).digest('base64url');
}
