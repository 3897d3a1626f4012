import { Injectable } from '@nestjs/common';
import { UserStore } from '#users/user.store.js';
import { LogoutPublisher } from '#messaging/logout/logout-publisher.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { SessionService } from '../session/session.service.js';
import { checkLogoutToken, InvalidLogoutTokenError, type Logout } from './provider-logout-token.js';
import { LogoutTokenStore } from './logout-token.store.js';
import { LoginProvider } from './login-provider.js';
import { verifyWithAnyKey } from '#platform/http/provider-keys.js';

/** Maximum age of a logout token in seconds. Section 2.4 of Back-Channel Logout 1.0 recommends at most two minutes. */
const MAX_AGE = 10 * 60;

/** Maximum length of a logout token in characters. An ID token, which contains more claims, has about 1,000. */
const MAX_LENGTH = 8_192;

/** Ends sessions at the request of the login provider (OpenID Connect Back-Channel Logout 1.0). */
@Injectable()
export class BackChannelLogoutService {
  constructor(
    private readonly provider: LoginProvider,
    private readonly tokens: LogoutTokenStore,
    private readonly sessions: SessionService,
    private readonly users: UserStore,
    private readonly logouts: LogoutPublisher,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * A token with a `sid` ends the sessions with this `sid`. A token with only a `sub` ends all sessions of the user. A
   * token with both also ends all sessions if a login of the user had no `sid`.
   * @returns log fields
   * @throws OAuthError invalid_request for a token that is invalid or was used before
   */
  async logout(token: unknown): Promise<Readonly<Record<string, unknown>>> {
    const logout = await this.verify(token);
    if (await this.tokens.isKnown(logout.jti)) throw invalidToken(new InvalidLogoutTokenError('jti'));
    const outcome = await this.end(logout);
    // Stores the token last, so that a retry after a crash ends the sessions. A concurrent replay is harmless.
    await this.tokens.remember(logout.jti, MAX_AGE + 2 * this.configuration.CLOCK_SKEW);
    return outcome;
  }

  private async end({ sid, sub }: Logout): Promise<Readonly<Record<string, unknown>>> {
    const identity = { issuer: this.configuration.loginIssuer, externalId: sub ?? '' };
    if (sid !== null) {
      for (const session of await this.sessions.endExternal(sid)) this.logouts.sessionEnded(session);
      if (sub === null || !(await this.sessions.hasWithoutSid(identity)))
        return { outcome: 'session ended by the provider' };
    }
    const userId = await this.users.endSessionsOf(identity);
    if (userId !== null) this.logouts.userEnded(userId);
    return { outcome: 'sessions ended by the provider', user_id: userId };
  }

  /** Performs steps 2 to 7 of section 2.6 of Back-Channel Logout 1.0. Rejects encrypted tokens (step 1). */
  private async verify(token: unknown): Promise<Logout> {
    if (typeof token !== 'string' || token.length > MAX_LENGTH)
      throw OAuthError.invalidRequest('logout_token_invalid.missing');
    try {
      const { keys, ...rules } = await this.provider.logoutTokenRules();
      const { protectedHeader, payload } = await verifyWithAnyKey(token, keys, {
        ...rules,
        issuer: this.configuration.loginIssuer,
        clockTolerance: this.configuration.CLOCK_SKEW,
        maxTokenAge: MAX_AGE,
        requiredClaims: ['exp', 'iat'],
      });
      return checkLogoutToken(protectedHeader, payload);
    } catch (error) {
      throw invalidToken(error);
    }
  }
}

/** Reports only the name of the failed claim or jose's error code. Returns errors that have neither unchanged. */
function invalidToken(error: unknown): unknown {
  const failed = failedCheck(error);
  if (failed === null) return error;
  return OAuthError.invalidRequest('logout_token_invalid', { detail: { failed } });
}

function failedCheck(error: unknown): string | null {
  if (error instanceof InvalidLogoutTokenError) return error.failed;
  if (!(error instanceof Error)) return null;
  const { claim, code } = error as Error & { readonly claim?: unknown; readonly code?: unknown };
  if (typeof claim === 'string' && claim !== 'unspecified') return claim;
  return typeof code === 'string' && /^(ERR_J|OAUTH_)/.test(code) ? code : null;
}
