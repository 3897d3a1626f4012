import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ExternalUserStore } from '#users/external-user.store.js';
import { DeletedUserError, DuplicateUserError, type Identity, type User } from '#users/user.js';
import { InvalidEmailError, type UserProfile } from '#users/user-profile.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { afterLogin, resumableQuery } from '../urls.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import type { ValidatedRequest } from '../validated-request.js';
import { LoginCookie, type LoginRedirect, SessionService } from '../session/session.service.js';
import { type ExternalSession, type UserSession, UserSessionStore } from '../session/user-session.store.js';
import { duringLogin, ExternalLoginError, invalidResponse } from './external-login.error.js';
import { LoginProvider, type LoginStart } from './login-provider.js';
import { type ConsumedTransaction, LoginTransactionStore } from './login-transaction.store.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { LogoutContinuation } from '../logout/logout.service.js';

export interface LoginBrowser {
  readonly cookies: string | undefined;
  readonly address: string | undefined;
}

export interface FinishedLogin {
  readonly location: string;
  /** User and new session cookie; null if an earlier callback has consumed the login transaction. */
  readonly login: { readonly user: User; readonly cookie: string } | null;
}

export interface AuthenticatedUser {
  /** Id of the user at the provider (`sub`). */
  readonly subject: string;
  readonly profile: UserProfile;
  readonly emailVerified: boolean | undefined;
  /** Time at which the provider issued the claims (`iat`), in milliseconds since the epoch. */
  readonly assertedAt: number;
  readonly session: ExternalSession;
}

/** Maximum duration of a login in seconds. Must be enough to reset a password by e-mail. */
export const LOGIN_VALIDITY = 30 * 60;

/** Maximum length of a received `state` in characters. Issued values have 43 characters. */
const MAX_STATE = 100;

@Injectable()
export class ExternalLoginService {
  constructor(
    private readonly provider: LoginProvider,
    private readonly transactions: LoginTransactionStore,
    private readonly loginCookie: LoginCookie,
    private readonly users: ExternalUserStore,
    private readonly sessions: SessionService,
    private readonly storedSessions: UserSessionStore,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Redirects an invalid request to the authorization endpoint.
   * @throws ExternalLoginError if the provider is unavailable or misconfigured, or if too many logins were started
   */
  async start(
    { cookies: cookieHeader, address }: LoginBrowser,
    rawQuery: string,
    request: ValidatedRequest | null,
    prompt: LoginStart['prompt'] = promptOf(request),
  ): Promise<LoginRedirect> {
    if (!request && new URLSearchParams(rawQuery).has('client_id'))
      return { location: afterLogin(rawQuery), loginCookie: null };
    const query = resumableQuery(rawQuery, request);
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
    const existing = this.loginCookie.read(cookieHeader);
    const browser = existing ?? this.loginCookie.generate();
    const transaction = { query, startedAt: this.clock(), details };
    const wait = await this.transactions.begin(state, browser, address, transaction);
    if (wait > 0)
      throw new ExternalLoginError('login_starts_exceeded', query, {
        headers: { 'Retry-After': String(wait) },
      });
    return { location, loginCookie: existing === null ? browser : null };
  }

  /**
   * Consumes the login transaction. The outcome is `used` if an earlier callback has consumed the transaction.
   * @throws ExternalLoginError if the transaction is unknown, has expired or belongs to another browser
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
      throw invalidTransaction(outcome, outcome === 'unknown' ? '' : consumed.query);
    if (outcome === 'open' && this.clock() - consumed.startedAt > LOGIN_VALIDITY * 1000)
      throw invalidTransaction('expired', consumed.query);
    return consumed;
  }

  /** Continues without a new session: the next page uses the current session, or requires a login. */
  resume(query: string): FinishedLogin {
    return { location: afterLogin(query), login: null };
  }

  /**
   * @throws ExternalLoginError in an outage, or if the user cannot be stored, is disabled, or has already logged out at
   * the provider
   */
  async finish(
    cookieHeader: string | undefined,
    query: string,
    authenticated: AuthenticatedUser,
  ): Promise<FinishedLogin> {
    const { session, subject } = authenticated;
    const identity = { issuer: this.configuration.loginIssuer, externalId: subject };
    try {
      // Must precede the upsert, so that a logout token that arrives after the upsert also ends this session.
      if (session.sid === undefined) await this.storedSessions.addWithoutSid(identity);
      const user = await this.upsertUser(identity, authenticated);
      if (user.disabled)
        throw new ExternalLoginError('login_user_disabled', query, {
          detail: { user_id: user.id },
        });
      if (await this.storedSessions.isEnded(session.sid))
        throw invalidResponse('the session at the login provider has ended', 'sid', query);
      const cookie = await this.sessions.begin(cookieHeader, user, query, session);
      return { location: afterLogin(query), login: { user, cookie } };
    } catch (error) {
      const failed = failedCheckOf(error);
      if (failed === null) throw duringLogin(error, query);
      throw invalidResponse((error as Error).message, failed, query);
    }
  }

  /** OpenID Connect Core 5.7: `iss` and `sub` together are the only stable identifier; e-mail addresses are not. */
  private upsertUser(
    identity: Identity,
    { profile, emailVerified, assertedAt }: AuthenticatedUser,
  ): Promise<User> {
    return this.users.upsertIdentity({
      identity,
      profile,
      emailVerified,
      assertedAt: new Date(assertedAt),
      linkByEmail: emailVerified === true && this.configuration.LOGIN_LINK_BY_EMAIL === 'true',
    });
  }
}

/** Omits `none`, which never leads to a login, and `consent`, for which this service has a page. */
function promptOf(request: ValidatedRequest | null): LoginStart['prompt'] {
  return (['login', 'select_account'] as const).filter((prompt) => request?.prompt.has(prompt));
}

function failedCheckOf(error: unknown): string | null {
  if (error instanceof InvalidEmailError) return 'email';
  if (error instanceof DuplicateUserError) return 'duplicate';
  return error instanceof DeletedUserError ? 'deleted' : null;
}

function invalidTransaction(found: string, query: string): ExternalLoginError {
  return new ExternalLoginError('login_transaction_invalid', query, { detail: { found } });
}

@Injectable()
export class ExternalLogout extends LogoutContinuation {
  /** The login page would redirect to the provider, and the provider may log the user in again. */
  readonly landing = ENDPOINTS.logout;

  constructor(
    private readonly provider: LoginProvider,
    private readonly logins: ExternalLoginService,
    private readonly requests: AuthorizationRequestService,
  ) {
    super();
  }

  providerUrl(cookie: string, session: UserSession): Promise<string | null> {
    return this.provider.logoutUrl(cookie, session);
  }

  async logInAgain(
    browser: { readonly cookies: string | undefined; readonly address: string },
    query: string,
  ): Promise<LoginRedirect> {
    const request = await this.requests.validateOrNull(query, null);
    // Without select_account, the provider may log the same user in again.
    return this.logins.start(browser, query, request, ['select_account']);
  }
}
