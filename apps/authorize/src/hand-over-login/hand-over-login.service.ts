import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { duringLogin, ExternalLoginError } from '../external-login/external-login.error.js';
import { ExternalLoginService, type FinishedLogin } from '../external-login/external-login.service.js';
import {
  type ClaimMapping,
  emailVerifiedOf,
  profileOf,
  STANDARD_CLAIMS,
} from '../external-login/profile-claims.js';
import {
  AssertionVerifier,
  challengeOf,
  InvalidAssertionError,
  type LoginAssertion,
} from './assertion-verifier.js';
import { type IssuedChallenge, LoginChallenges } from './login-challenge.js';

/** The standard claims, and for the other fields the names of `/v2/me`. */
const CLAIMS: ClaimMapping = {
  ...STANDARD_CLAIMS,
  locale: 'locale',
  bio: 'bio',
  timeFormat: 'timeFormat',
  weekStart: 'weekStart',
  defaultScheduleId: 'defaultScheduleId',
  organizationId: 'organizationId',
};

/** Ends the login that the product's login page finished or cancelled. */
@Injectable()
export class HandOverLoginService {
  constructor(
    private readonly logins: ExternalLoginService,
    private readonly challenges: LoginChallenges,
    private readonly assertions: AssertionVerifier,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * Logs in the user whom the product names. The challenge is consumed first, in one atomic step: of simultaneous returns one
   * begins a session, and an assertion that is refused cannot be tried again with other claims.
   *
   * @param assertion the JWT, unverified
   * @throws ExternalLoginError; its page starts again with the same authorization request
   */
  async finish(cookieHeader: string | undefined, assertion: string): Promise<FinishedLogin> {
    const challenge = challengeOf(assertion);
    const issued = await this.issued(challenge);
    const { query, outcome } = await this.logins.consume(cookieHeader, issued.jti);
    if (outcome === 'used') return this.logins.resume(query);
    const verified = await this.verify(assertion, challenge, issued, query);
    const { subject, sessionId, issuedAt, authTime, claims } = verified;
    return this.logins.finish(cookieHeader, query, {
      subject,
      profile: profileOf(claims, CLAIMS),
      emailVerified: emailVerifiedOf(claims),
      assertedAt: issuedAt * 1000,
      session: {
        ...(authTime !== null && { authTime: authTime * 1000 }),
        ...(sessionId !== null && { sid: sessionId }),
      },
    });
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

  private async verify(
    assertion: string,
    challenge: string,
    issued: IssuedChallenge,
    query: string,
  ): Promise<LoginAssertion> {
    try {
      const verified = await this.assertions.verify(assertion, challenge);
      this.checkAuthTime(verified, issued);
      return verified;
    } catch (error) {
      if (error instanceof InvalidAssertionError) throw refused(error.message, error.failed, query);
      throw duringLogin(error, query);
    }
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

function refused(description: string, failed: string, query: string): ExternalLoginError {
  return new ExternalLoginError('login_answer', description, query, { detail: { failed } });
}
