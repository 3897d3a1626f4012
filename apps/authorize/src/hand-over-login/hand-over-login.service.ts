import { Injectable } from '@nestjs/common';
import { ExternalUserStore } from '#database/user/external-user.store.js';
import { DuplicateUserError } from '#database/user/user.js';
import { InvalidEmailError } from '#database/user/user-profile.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { afterLogin } from '../addresses.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { ExternalLoginError } from '../external-login/external-login.error.js';
import { ExternalLoginService, type Onward } from '../external-login/external-login.service.js';
import {
  AssertionVerifier,
  challengeOf,
  InvalidAssertionError,
  type LoginAssertion,
} from './assertion-verifier.js';
import { type IssuedChallenge, LoginChallenges } from './login-challenge.js';
import { profileOf } from './profile-claims.js';

/** Ends the login that the product's login page finished or cancelled. */
@Injectable()
export class HandOverLoginService {
  constructor(
    private readonly logins: ExternalLoginService,
    private readonly challenges: LoginChallenges,
    private readonly assertions: AssertionVerifier,
    private readonly users: ExternalUserStore,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * Logs in the user whom the product names. The challenge is consumed first, in one atomic step: of simultaneous returns one
   * begins a session, and an assertion that is refused cannot be tried again with other claims.
   *
   * @param assertion the JWT, unverified
   * @throws ExternalLoginError; its page starts again with the same authorization request
   */
  async finish(cookieHeader: string | undefined, assertion: string): Promise<Onward> {
    const challenge = challengeOf(assertion);
    const issued = await this.issued(challenge);
    const transaction = await this.logins.consume(cookieHeader, issued.jti);
    const { query } = transaction;
    if (transaction.outcome === 'used') return { location: afterLogin(query), cookies: [] };
    try {
      const verified = await this.assertions.verify(assertion, challenge);
      this.checkAuthTime(verified, issued);
      const user = await this.users.bringUpToDate({
        identity: { issuer: this.configuration.loginIssuer, externalId: verified.subject },
        profile: profileOf(verified.claims),
        linkByEmail:
          this.configuration.LOGIN_LINK_BY_EMAIL === 'true' && verified.claims['email_verified'] === true,
      });
      const { authTime } = verified;
      return await this.logins.finish(
        cookieHeader,
        query,
        user,
        authTime === null ? {} : { authTime: authTime * 1000 },
      );
    } catch (error) {
      throw withQuery(error, query);
    }
  }

  /**
   * Ends the login of a user who does not want to log in.
   *
   * @returns the query of what waits for the login, and false if the login was finished before
   */
  async cancel(
    cookieHeader: string | undefined,
    challenge: unknown,
  ): Promise<{ readonly query: string; readonly cancelled: boolean }> {
    const { jti } = await this.issued(challenge);
    const { query, outcome } = await this.logins.consume(cookieHeader, jti);
    return { query, cancelled: outcome === 'open' };
  }

  private async issued(challenge: unknown): Promise<IssuedChallenge> {
    const issued = await this.challenges.verify(challenge);
    if (issued) return issued;
    throw refused('the challenge is not one of this service', 'challenge', '');
  }

  /**
   * OpenID Connect Core 3.1.2.1: with prompt=login, and beyond max_age, the user must authenticate again. What was asked is
   * in the challenge, which only we can sign.
   */
  private checkAuthTime(
    { authTime, issuedAt }: LoginAssertion,
    { prompt = '', max_age: maxAge = Infinity, iat }: IssuedChallenge,
  ): void {
    const since = Math.max(prompt.split(' ').includes('login') ? iat : -Infinity, issuedAt - maxAge);
    if (since === -Infinity) return;
    if (authTime === null || authTime < since - this.configuration.CLOCK_SKEW)
      throw new InvalidAssertionError(
        'auth_time',
        'the challenge asks for a new login (prompt or max_age), and its auth_time does not prove one',
      );
  }
}

/** The error with the authorization request, so that its page can start again. */
function withQuery(error: unknown, query: string): unknown {
  if (error instanceof InvalidAssertionError) return refused(error.message, error.failed, query);
  if (error instanceof InvalidEmailError || error instanceof DuplicateUserError)
    return refused(error.message, 'email', query);
  const known = OAuthError.from(error);
  if (known.status !== 503) return error;
  const { description, detail } = known;
  return new ExternalLoginError('login_unavailable', description, query, { detail, cause: error });
}

function refused(description: string, failed: string, query: string): ExternalLoginError {
  return new ExternalLoginError('login_answer', description, query, { detail: { failed } });
}
