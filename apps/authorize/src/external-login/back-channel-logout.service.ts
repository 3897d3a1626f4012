import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { Injectable } from '@nestjs/common';
import { UserStore } from '#users/user.store.js';
import { LogoutStore } from '#events/logout.store.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { verifyWithAnyKey } from '#platform/http/provider-keys.js';
import { isSessionId, isSubject } from '../configuration/profile-claims.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { UserSessionStore } from '../session/user-session.store.js';
import { LogoutTokenStore } from './logout-token.store.js';
import { FailedCheckError } from './external-login.error.js';
import { LoginProvider } from './login-provider.js';

/** Event type of a logout token (section 2.4 of OpenID Connect Back-Channel Logout 1.0). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Claims of a valid logout token, which contains a `sid`, a `sub`, or both. */
export interface Logout {
  readonly jti: string;
  readonly sid: string | null;
  readonly sub: string | null;
}

/**
 * Performs steps 5 to 7 of section 2.6 of Back-Channel Logout 1.0. jose has already checked the signature, `iss`,
 * `aud`, `exp` and `iat`.
 * @throws FailedCheckError
 */
function checkLogoutToken(header: JWTHeaderParameters, claims: JWTPayload): Logout {
  const { sub, sid, jti, events, nonce } = claims as Readonly<Record<string, unknown>>;
  // Section 2.4 recommends the type logout+jwt. Any other explicit type is another kind of token (RFC 8725 3.11).
  if (header.typ !== undefined && !/^(application\/)?(logout\+jwt|jwt)$/i.test(header.typ))
    throw new FailedCheckError('typ');
  if (sub !== undefined && !isSubject(sub)) throw new FailedCheckError('sub');
  if (sid !== undefined && !isSessionId(sid)) throw new FailedCheckError('sid');
  // Step 5: "Verify that the Logout Token contains a sub Claim, a sid Claim, or both."
  if (sub === undefined && sid === undefined) throw new FailedCheckError('sub');
  // Step 6: "Verify that the Logout Token contains an events Claim". Its LOGOUT_EVENT member must be a JSON object.
  if (!isObject(events) || !isObject(events[LOGOUT_EVENT])) throw new FailedCheckError('events');
  // Step 7: "Verify that the Logout Token does not contain a nonce Claim". The ID tokens of logins do.
  if (nonce !== undefined) throw new FailedCheckError('nonce');
  if (typeof jti !== 'string' || jti === '' || jti.length > 255) throw new FailedCheckError('jti');
  return { jti, sid: sid ?? null, sub: sub ?? null };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
    private readonly sessions: UserSessionStore,
    private readonly users: UserStore,
    private readonly logouts: LogoutStore,
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
    if (await this.tokens.isKnown(logout.jti)) throw invalidToken('jti');
    const outcome = await this.end(logout);
    // Stores the token last, so that a retry after a crash ends the sessions. A concurrent replay is harmless.
    await this.tokens.remember(logout.jti, MAX_AGE + 2 * this.configuration.CLOCK_SKEW);
    return outcome;
  }

  private async end({ sid, sub }: Logout): Promise<Readonly<Record<string, unknown>>> {
    const identity = { issuer: this.configuration.loginIssuer, externalId: sub ?? '' };
    if (sid !== null) {
      for (const session of await this.sessions.endExternal(sid)) await this.logouts.sessionEnded(session);
      if (sub === null || !(await this.sessions.hasWithoutSid(identity)))
        return { outcome: 'session ended by the provider' };
    }
    const userId = await this.users.endSessionsOf(identity);
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
      const failed = failedCheck(error);
      throw failed === null ? error : invalidToken(failed);
    }
  }
}

function invalidToken(failed: string): OAuthError {
  return OAuthError.invalidRequest('logout_token_invalid', { detail: { failed } });
}

/** Returns the name of the failed claim, or jose's error code; null for an error that has neither. */
function failedCheck(error: unknown): string | null {
  if (error instanceof FailedCheckError) return error.failed;
  if (!(error instanceof Error)) return null;
  const { claim, code } = error as Error & { readonly claim?: unknown; readonly code?: unknown };
  if (typeof claim === 'string' && claim !== 'unspecified') return claim;
  return typeof code === 'string' && /^(ERR_J|OAUTH_)/.test(code) ? code : null;
}
