import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { addAuditEvent } from '#audit/request-events.js';
import type { User } from '#users/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { RedirectableError } from '#oauth/redirectable.error.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { ConsentEndedError } from '../consent/consent.service.js';
import { clearedByForm, grantedEarlier, readDecision, requiredInteraction } from '../consent/interaction.js';
import type { SentForm } from '../session/sent-form.js';
import type { FormFields } from '../session/csrf.guard.js';
import { SessionService, type Visitor } from '../session/session.service.js';
import type { UserSession } from '../session/user-session.store.js';
import { clearedScopes, withClearedScopes, withQuery } from '../urls.js';
import {
  type AuthorizationResponse,
  AuthorizationResponseService,
} from './authorization-response.service.js';
import type { ValidatedRequest } from '../validated-request.js';

export interface Visit {
  readonly request: ValidatedRequest;
  readonly visitor: Visitor;
  readonly query: string;
  /** Null for a request without a form, unless the request was pushed. */
  readonly form: SentForm | null;
  /** Node's request, which collects log fields and audit events. */
  readonly raw: IncomingMessage;
}

interface LoggedIn {
  readonly user: User;
  readonly cookie: string;
  readonly session: UserSession;
}

export type NextStep =
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'consent';
      readonly user: User;
      readonly cookie: string;
      /** The user pressed Allow without selecting a scope. */
      readonly nothingChosen: boolean;
      /** Optional scopes that the user cleared on an earlier page of the request. */
      readonly cleared: readonly string[];
    }
  | { readonly kind: 'response'; readonly user: User; readonly response: AuthorizationResponse };

/** Flow of a validated authorization request (RFC 6749 4.1.1). */
@Injectable()
export class AuthorizationService {
  constructor(
    private readonly sessions: SessionService,
    private readonly responses: AuthorizationResponseService,
  ) {}

  /**
   * @throws RedirectableError if the request needs a page that `prompt=none` forbids, or if a user other than the
   * expected user logged in
   */
  async begin(visit: Visit): Promise<NextStep> {
    const { request, visitor, query, form } = visit;
    const isLoginForRequest = this.sessions.isLoginFor(visitor.session, query, form);
    const needed = requiredInteraction(request, isLoginForRequest);
    if (request.prompt.has('none')) rejectIfPageNeeded(request, isLoginForRequest);
    if (request.isOtherUser && isLoginForRequest) throw otherUserError(request);
    const loggedIn = loggedInOf(visit);
    if (needed.page === 'login' || loggedIn === null) return this.login(visit);
    if (needed.page === 'consent')
      return { kind: 'consent', ...loggedIn, nothingChosen: false, cleared: clearedScopes(query) };
    if (!(await this.consumeLogin(visit))) return this.login(visit);
    return this.allow(visit, loggedIn, needed.scope, true);
  }

  /**
   * @throws RedirectableError if the user denies the request; OAuthError if the form contains no decision, or if a
   * pushed request was answered or has expired
   */
  async decide(visit: Visit, fields: FormFields): Promise<NextStep> {
    const { request, visitor, query, form, raw } = visit;
    // The login may have become too old since the page was sent. A recent login for this request is never too old.
    const isTooOld = request.loginTooOld && !this.sessions.isLoginFor(visitor.session, query, form);
    const loggedIn = loggedInOf(visit);
    const cleared = clearedByForm(request.scopes, fields);
    if (loggedIn === null || request.isOtherUser || isTooOld)
      return this.login({ ...visit, query: withClearedScopes(query, cleared) });
    const decision = readDecision(request, fields);
    if (decision.kind === 'undecided')
      return { kind: 'consent', ...loggedIn, nothingChosen: decision.nothingChosen, cleared };
    if (!(await this.consumeLogin(visit)))
      return this.login({ ...visit, query: withClearedScopes(query, cleared) });
    if (decision.kind === 'allowed') return this.allow(visit, loggedIn, decision.scope, false);
    const denied = await this.responses.deny(request, loggedIn.user, decision.scope, form);
    addAuditEvent(raw, 'consent.denied');
    throw denied;
  }

  /** Deletes an invalid session, because the login page would redirect back to this endpoint in a loop. */
  private async login({ request, visitor: { cookie, session }, query }: Visit): Promise<NextStep> {
    if (session && !request.user) await this.sessions.end(cookie);
    return { kind: 'redirect', location: withQuery(ENDPOINTS.login, query) };
  }

  /** OpenID Connect Core 3.1.2.1: prompt=login requires a new login for each request, so a login counts only once. */
  private async consumeLogin({ request, visitor, query, form }: Visit): Promise<boolean> {
    return !request.prompt.has('login') || this.sessions.consumeLogin(visitor, query, form);
  }

  private async allow(
    visit: Visit,
    { user, cookie, session }: LoggedIn,
    scope: string,
    isByEarlierConsent: boolean,
  ): Promise<NextStep> {
    const { request, query, form, raw } = visit;
    const isForced = request.maxAge !== null || request.prompt.has('login');
    const login = this.sessions.loginOf(cookie, session, { query, isForced, form });
    // A first-party application may get scopes without earlier consent. Such a grant does not continue a consent.
    const continuesConsent =
      isByEarlierConsent && (!request.client.firstParty || grantedEarlier(request.scopes) !== null);
    try {
      const approval = { scope, continuesConsent, login, handle: form?.handleOf(scope) };
      const { response, grantId, isRepeated } = await this.responses.approve(request, user, approval, form);
      const outcome = isRepeated ? 'allowed again' : isByEarlierConsent ? 'allowed before' : 'allowed';
      addLogContext(raw, { user_id: user.id, grant_id: grantId, scope, outcome });
      addAuditEvent(raw, 'consent.allowed');
      return { kind: 'response', user, response };
    } catch (error) {
      if (!(error instanceof ConsentEndedError)) throw error;
      if (error.reason === 'denied') throw await this.responses.deny(request, user, scope, form);
      if (request.prompt.has('login')) return this.login(visit);
      return { kind: 'redirect', location: withQuery(ENDPOINTS.authorize, query) };
    }
  }
}

function loggedInOf({ request: { user }, visitor: { cookie, session } }: Visit): LoggedIn | null {
  return user && cookie !== null && session !== null ? { user, cookie, session } : null;
}

/**
 * Checks consent before the expected user. Without consent, a client gets the same error for every user, so it cannot
 * find out whether the expected user is logged in.
 */
function rejectIfPageNeeded(request: ValidatedRequest, isLoginForRequest: boolean): void {
  const { page } = requiredInteraction({ ...request, isOtherUser: false }, isLoginForRequest);
  if (page !== null) throw promptNoneError(page, request);
  if (request.isOtherUser) throw otherUserError(request);
}

/** OpenID Connect Core 3.1.2.1: prompt=none requires an error instead of a page. The errors are in 3.1.2.6. */
function promptNoneError(page: 'login' | 'consent', request: ValidatedRequest): RedirectableError {
  const detail = request.user ? { user_id: request.user.id } : {};
  const error =
    page === 'consent'
      ? new OAuthError('consent_required', 400, 'consent_impossible', { detail })
      : new OAuthError('login_required', 400, request.user ? 'login_too_old' : 'login_impossible', {
          detail,
        });
  return new RedirectableError(error, request, request.client);
}

/** OpenID Connect Core 3.1.2.2: the server "MUST NOT reply with an ID Token or Access Token for a different user". */
function otherUserError(request: ValidatedRequest): RedirectableError {
  const error = new OAuthError('login_required', 400, 'other_user_logged_in', {
    detail: request.user ? { user_id: request.user.id } : {},
  });
  return new RedirectableError(error, request, request.client);
}
