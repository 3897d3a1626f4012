import * as oauth from 'openid-client';
import type { DemoConfiguration } from './demo.configuration.js';
import type { Attempt, Connection, Person } from './sessions.js';
import { toFailure, unexpectedAnswer } from './failure.js';

const SECONDS_TO_WAIT = 10;

export class CalendarClient {
  private readonly server: oauth.Configuration;

  constructor(private readonly configuration: DemoConfiguration) {
    const { AUTH_URL, BASE_URL, CLIENT_ID, CLIENT_SECRET } = configuration;
    this.server = new oauth.Configuration(
      {
        issuer: BASE_URL,
        authorization_endpoint: `${AUTH_URL}/auth/oauth2/authorize`,
        token_endpoint: `${BASE_URL}/api/auth/oauth/token`,
        revocation_endpoint: `${BASE_URL}/api/auth/oauth/revoke`,
        authorization_response_iss_parameter_supported: true,
      },
      CLIENT_ID,
      CLIENT_SECRET,
    );
    this.server.timeout = SECONDS_TO_WAIT;
    // Allows plain http only on this machine.
    if (/^http:\/\/(localhost|127\.0\.0\.1)(:|$)/.test(BASE_URL)) oauth.allowInsecureRequests(this.server);
  }

  /** Returns the authorization URL, and the state and code verifier for `finish` (RFC 6749 4.1.1, RFC 7636). */
  async begin(): Promise<{ url: string; attempt: Attempt }> {
    const attempt = { state: oauth.randomState(), codeVerifier: oauth.randomPKCECodeVerifier() };
    const url = oauth.buildAuthorizationUrl(this.server, {
      redirect_uri: this.configuration.REDIRECT_URI,
      state: attempt.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(attempt.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, attempt };
  }

  /** Checks state and iss before the exchange. @param query the callback's query, unchanged @throws Failure */
  async finish(query: string, attempt: Attempt): Promise<Connection> {
    const answer = new URL(this.configuration.REDIRECT_URI);
    answer.search = query;
    // RFC 9207 2.4: rejects responses of other servers, so that their codes are not sent to this server.
    if (answer.searchParams.get('iss') !== this.configuration.BASE_URL) throw unexpectedAnswer();
    const checks = { expectedState: attempt.state, pkceCodeVerifier: attempt.codeVerifier };
    return this.tokens('connect', () => oauth.authorizationCodeGrant(this.server, answer, checks));
  }

  /** Refreshes the tokens. The used refresh token becomes invalid. @throws Failure */
  async refresh({ refreshToken }: Connection): Promise<Connection> {
    const next = await this.tokens('refresh', () => oauth.refreshTokenGrant(this.server, refreshToken));
    return { ...next, refreshedAt: new Date() };
  }

  /** Revokes the tokens (RFC 7009). @throws Failure, with status 404 if the server has no revocation endpoint */
  async revoke({ refreshToken }: Connection): Promise<void> {
    await oauth
      .tokenRevocation(this.server, refreshToken, { token_type_hint: 'refresh_token' })
      .catch((error: unknown) => {
        throw toFailure('revoke', error);
      });
  }

  /** Returns null if the access token is rejected. @throws Failure */
  async me({ accessToken }: Connection): Promise<Person | null> {
    try {
      const response = await fetch(`${this.configuration.API_URL}/v2/me`, {
        headers: { Authorization: `Bearer ${accessToken}` },
        redirect: 'error',
        signal: AbortSignal.timeout(SECONDS_TO_WAIT * 1_000),
      });
      if (response.status === 401) return null;
      if (!response.ok) throw new Error(`status ${response.status}`);
      return readPerson(await response.json());
    } catch (error) {
      throw toFailure('me', error);
    }
  }

  private async tokens(
    operation: 'connect' | 'refresh',
    request: () => ReturnType<typeof oauth.refreshTokenGrant>,
  ): Promise<Connection> {
    try {
      const answer = await request();
      if (!answer.refresh_token) throw new Error('the answer has no refresh_token');
      // Without expires_in the lifetime is unknown (RFC 6749 5.1): the page then shows the current time as the expiry.
      const lifetimeMs = (answer.expires_in ?? 0) * 1_000;
      return {
        accessToken: answer.access_token,
        refreshToken: answer.refresh_token,
        expiresAt: new Date(Date.now() + lifetimeMs),
      };
    } catch (error) {
      throw toFailure(operation, error);
    }
  }
}

/** @throws Error for an unexpected response */
function readPerson(answer: unknown): Person {
  const { status, data } = (answer ?? {}) as { status?: unknown; data?: Record<string, unknown> };
  const { id, name, email, timeZone, timeFormat } = data ?? {};
  if (status !== 'success' || typeof name !== 'string' || (email !== null && typeof email !== 'string')) {
    throw new Error('the answer has another shape');
  }
  return {
    id: String(id),
    name,
    email,
    timeZone: typeof timeZone === 'string' && isTimeZone(timeZone) ? timeZone : 'UTC',
    timeFormat: timeFormat === 12 ? 12 : 24,
  };
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
