import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { duringLogin, invalidResponse } from '../external-login/external-login.error.js';
import { ExternalLoginService, type FinishedLogin } from '../external-login/external-login.service.js';
import {
  type ClaimMapping,
  emailVerifiedOf,
  profileOf,
  STANDARD_CLAIMS,
} from '../configuration/profile-claims.js';
import {
  AssertionVerifier,
  loginChallengeOf,
  type LoginAssertion,
  refusedAssertion,
} from './assertion-verifier.js';
import { type IssuedChallenge, LoginChallenges } from './login-challenge.js';

/** Standard claims, and for all other fields the names in `/v2/me`. */
const CLAIMS: ClaimMapping = {
  ...STANDARD_CLAIMS,
  locale: 'locale',
  bio: 'bio',
  timeFormat: 'timeFormat',
  weekStart: 'weekStart',
  defaultScheduleId: 'defaultScheduleId',
  organizationId: 'organizationId',
};

@Injectable()
export class JwtLoginService {
  constructor(
    private readonly logins: ExternalLoginService,
    private readonly challenges: LoginChallenges,
    private readonly assertions: AssertionVerifier,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /** Consumes the challenge first, so that a login cannot be retried with other claims. @throws ExternalLoginError */
  async finish(cookieHeader: string | undefined, assertion: string): Promise<FinishedLogin> {
    const challenge = loginChallengeOf(assertion);
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

  /** @returns the query to continue with; `cancelled` is false if the login was already finished or cancelled */
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
    throw invalidResponse('the challenge was not issued by this service', 'challenge', '');
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
      throw duringLogin(error, query);
    }
  }

  /** Enforces prompt=login and max_age (OpenID Connect Core 3.1.2.1), which the signed challenge contains. */
  private checkAuthTime(
    { authTime, issuedAt }: LoginAssertion,
    { prompt = '', max_age: maxAge = Infinity, iat }: IssuedChallenge,
  ): void {
    const since = Math.max(prompt.split(' ').includes('login') ? iat : -Infinity, issuedAt - maxAge);
    if (since === -Infinity) return;
    if (authTime === null || authTime < since - this.configuration.CLOCK_SKEW)
      throw refusedAssertion(
        'auth_time',
        'the challenge requires a new authentication (prompt or max_age), and its auth_time does not prove one',
      );
  }
}
