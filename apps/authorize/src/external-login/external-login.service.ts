import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ExternalUserStore } from '#database/user/external-user.store.js';
import { DeletedUserError, DuplicateUserError, type Identity, type User } from '#database/user/user.js';
import { InvalidEmailError, type UserProfile } from '#database/user/user-profile.js';
import { afterLogin, continuedQuery } from '../addresses.js';
import { AuthorizeConfiguration, CLOCK, type Clock } from '../authorize.configuration.js';
import type { ValidatedRequest } from '../consent/interaction.js';
import { SessionCookie, SessionService } from '../session/session.service.js';
import type { ExternalSession } from '../session/session.store.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { duringLogin, ExternalLoginError } from './external-login.error.js';
import { LoginCookie } from './login-cookie.js';
import { type LoginStart, LoginProvider } from './login-provider.js';
import { type ConsumedTransaction, LoginTransactionStore } from './login-transaction.store.js';

/** The browser that begins a login. */
export interface LoginVisitor {
  /** The Cookie header. */
  readonly cookies: string | undefined;
  readonly address: string | undefined;
}

/** An answer that sends the browser on. */
export interface Onward {
  readonly location: string;
  /** Set-Cookie headers. */
  readonly cookies: readonly string[];
}

/** How a browser goes on that has returned, with the user's id for the log; null for a return that was handled before. */
export type FinishedLogin = Onward & { readonly userId: number | null };

/** What the product's own login says of a user whom it has authenticated. */
export interface AuthenticatedUser {
  /** Its id of the user (`sub`). */
  readonly subject: string;
  readonly profile: UserProfile;
  /** Undefined if it does not say. */
  readonly emailVerified: boolean | undefined;
  /** When it said so, in milliseconds since the epoch. */
  readonly assertedAt: number;
  readonly session: ExternalSession;
}

/** Seconds for which a login may take: enough to reset a password by e-mail. */
export const LOGIN_VALIDITY = 30 * 60;

/** Longest `state` that is looked up; ours has 43 characters. */
const MAX_STATE = 100;

/** Sends browsers to the product's own login, and begins their session when they return. */
@Injectable()
export class ExternalLoginService {
  constructor(
    private readonly provider: LoginProvider,
    private readonly transactions: LoginTransactionStore,
    private readonly loginCookie: LoginCookie,
    private readonly users: ExternalUserStore,
    private readonly sessions: SessionService,
    private readonly sessionCookie: SessionCookie,
    private readonly language: LanguageService,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Begins a login; one Redis script, after what the provider needs. Redirects an invalid authorization request to the
   * authorization endpoint, which shows its error: nobody logs in for it.
   *
   * @param visitor the browser that it is bound to
   * @param rawQuery from `rawQuery`; of the authorization request, or of the page to return to
   * @param request the authorization request, if the query contains a valid one
   * @throws ExternalLoginError if the provider cannot be asked, or the address begins too many logins
   */
  async start(
    { cookies: cookieHeader, address }: LoginVisitor,
    rawQuery: string,
    request: ValidatedRequest | null,
    prompt: LoginStart['prompt'] = promptOf(request),
  ): Promise<Onward> {
    if (!request && new URLSearchParams(rawQuery).has('client_id')) return this.resume(rawQuery);
    const query = continuedQuery(rawQuery, request);
    const state = randomBytes(32).toString('base64url');
    const { location, details } = await this.provider.start({
      state,
      application: request?.client.name ?? null,
      query,
      prompt,
      maxAge: request?.maxAge ?? null,
      loginHint: request?.loginHint ?? null,
      uiLocales: request?.uiLocales ?? null,
    });
    const known = this.loginCookie.read(cookieHeader);
    const browser = known ?? this.loginCookie.generate();
    const transaction = { query, startedAt: this.clock(), details };
    const wait = await this.transactions.begin(state, browser, address, transaction);
    if (wait > 0)
      throw new ExternalLoginError('login_starts', 'too many logins began at this address', query, {
        headers: { 'Retry-After': String(wait) },
      });
    return { location, cookies: known === null ? [this.loginCookie.set(browser)] : [] };
  }

  /**
   * Consumes the transaction with which a browser returns: once, and only in the browser that began it.
   *
   * @returns the open transaction, or one that was used before, by the back button or a second click: `resume` it
   * @throws ExternalLoginError if it has expired, or another browser began it
   */
  async consume(
    cookieHeader: string | undefined,
    state: unknown,
  ): Promise<Extract<ConsumedTransaction, { outcome: 'open' | 'used' }>> {
    const consumed: ConsumedTransaction =
      typeof state === 'string' && state !== '' && state.length <= MAX_STATE
        ? await this.transactions.consume(state, this.loginCookie.read(cookieHeader))
        : { outcome: 'unknown' };
    const { outcome } = consumed;
    if (outcome === 'unknown' || outcome === 'other_browser')
      throw outdated(outcome, outcome === 'unknown' ? '' : consumed.query);
    if (outcome === 'open' && this.clock() - consumed.startedAt > LOGIN_VALIDITY * 1000)
      throw outdated('expired', consumed.query);
    return consumed;
  }

  /** Continues where the login leads, as the user who is logged in by now, or with a new login. */
  resume(query: string): FinishedLogin {
    return { location: afterLogin(query), cookies: [], userId: null };
  }

  /**
   * Begins the session of a user whom the product's own login has authenticated; a few Redis commands.
   *
   * @param query of the transaction
   * @throws ExternalLoginError if the user cannot be stored, is disabled, or has logged out there meanwhile
   */
  async finish(
    cookieHeader: string | undefined,
    query: string,
    authenticated: AuthenticatedUser,
  ): Promise<FinishedLogin> {
    const { session, subject } = authenticated;
    const identity = { issuer: this.configuration.loginIssuer, externalId: subject };
    try {
      // Before the user is read: a logout token that arrives in between then ends this session too.
      if (session.sid === undefined) await this.sessions.addUnnamed(identity);
      const user = await this.bringUpToDate(identity, authenticated);
      if (user.disabled)
        throw new ExternalLoginError('login_disabled', 'the account is disabled', query, {
          detail: { user_id: user.id },
        });
      if (await this.sessions.isEnded(session))
        throw new ExternalLoginError('login_answer', 'the session at the login has ended', query, {
          detail: { failed: 'sid' },
        });
      const cookie = await this.sessions.begin(cookieHeader, user, query, session);
      const cookies = [this.sessionCookie.set(cookie), ...this.language.remember(cookieHeader, user.locale)];
      return { location: afterLogin(query), cookies, userId: user.id };
    } catch (error) {
      const failed = refusalOf(error);
      if (failed === null) throw duringLogin(error, query);
      throw new ExternalLoginError('login_answer', (error as Error).message, query, { detail: { failed } });
    }
  }

  /** OpenID Connect Core 5.7: `iss` and `sub` together are the only stable identifier; e-mail addresses are not. */
  private bringUpToDate(
    identity: Identity,
    { profile, emailVerified, assertedAt }: AuthenticatedUser,
  ): Promise<User> {
    return this.users.bringUpToDate({
      identity,
      profile,
      emailVerified,
      assertedAt: new Date(assertedAt),
      linkByEmail: emailVerified === true && this.configuration.LOGIN_LINK_BY_EMAIL === 'true',
    });
  }
}

/** `none` never leads to a login, and `consent` asks for our own page. */
function promptOf(request: ValidatedRequest | null): LoginStart['prompt'] {
  return (['login', 'select_account'] as const).filter((prompt) => request?.prompt.has(prompt));
}

/** Why the user in a valid answer cannot be stored; null for any other error. */
function refusalOf(error: unknown): string | null {
  if (error instanceof InvalidEmailError) return 'email';
  if (error instanceof DuplicateUserError) return 'duplicate';
  return error instanceof DeletedUserError ? 'deleted' : null;
}

function outdated(found: string, query: string): ExternalLoginError {
  const description = 'the login has expired, or it began in another browser';
  return new ExternalLoginError('login_transaction', description, query, { detail: { found } });
}
