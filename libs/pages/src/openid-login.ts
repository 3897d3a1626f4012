import { Inject, Injectable, Logger } from '@nestjs/common';
import { errors, type JWTVerifyGetKey } from 'jose';
import type { Configuration, IDToken, ServerMetadata, UserInfoResponse } from 'openid-client';
import { DependencyUnavailableError, messageOf } from '#platform/errors.js';
import { providerFetch } from '#platform/http/provider-fetch.js';
import { fetchedKeys, isAsymmetric, verifyWithAnyKey } from '#platform/http/provider-keys.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { derived, type LoginState, openState, sealState } from './login-state.js';
import { PagesOptions } from './pages.options.js';
import type { Session } from './session.store.js';

/** Milliseconds for which the provider's metadata is cached. */
const FRESH_MS = 15_000;

const VALIDITY_MS = 60 * 60_000;

/** Longest ID token that fits into the URL of a log-out, in characters. */
const MAX_HINT = 4_000;

export interface FinishedLogin {
  readonly session: Session;
  /** Claims of the ID token and the UserInfo response. */
  readonly claims: IDToken;
  readonly accessToken: string;
  readonly page: string;
}

// Imported at the first login.
const openid = () => import('openid-client');

/** Code flow of OpenID Connect Core 1.0 and Discovery 1.0, with PKCE (RFC 7636). The browser keeps the login state. */
@Injectable()
export class OpenIdLogin {
  private readonly logger = new Logger(OpenIdLogin.name);
  private readonly callback: string;
  private keys: { readonly url: string; readonly get: JWTVerifyGetKey } | null = null;
  private current: { readonly config: Configuration; readonly checkedAt: number } | null = null;

  constructor(
    private readonly options: PagesOptions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.callback = `${options.url}/login/callback`;
  }

  /** @returns URL of the authorization request */
  async start(cookie: string, page: string, prompt: LoginState['prompt']): Promise<string> {
    const client = await openid();
    const state: LoginState = { id: client.randomState(), page, startedAt: this.clock(), prompt };
    return client.buildAuthorizationUrl(await this.provider(), {
      redirect_uri: this.callback,
      scope: ['openid profile email', this.options.login.scope].join(' ').trim(),
      state: sealState(cookie, state),
      nonce: derived(cookie, 'nonce', state),
      code_challenge: await client.calculatePKCECodeChallenge(derived(cookie, 'verifier', state)),
      code_challenge_method: 'S256',
      // With max_age, the ID token contains `auth_time` (section 2 of Core).
      ...(prompt !== null && { prompt }),
      ...(prompt === 'login' && { max_age: '0' }),
    }).href;
  }

  /**
   * Validates the response and the ID token (sections 3.1.2.7 and 3.1.3.7 of OpenID Connect Core).
   * @throws RefusedRequestError with a message for the user
   */
  async finish(cookie: string | null, parameters: URLSearchParams): Promise<FinishedLogin> {
    const sent = parameters.get('state') ?? '';
    const state = cookie === null ? null : openState(cookie, sent);
    if (cookie === null || state === null || this.clock() - state.startedAt > VALIDITY_MS)
      throw new RefusedRequestError(
        400,
        'this login is out of date, or another browser began it: log in again',
        { detail: { check: 'login_transaction_invalid' } },
      );
    const client = await openid();
    const config = await this.provider();
    const tokens = await client
      .authorizationCodeGrant(config, new URL(`${this.callback}?${parameters.toString()}`), {
        expectedState: sent,
        expectedNonce: derived(cookie, 'nonce', state),
        pkceCodeVerifier: derived(cookie, 'verifier', state),
        idTokenExpected: true,
      })
      .catch((cause: unknown) => {
        throw parameters.get('error') === 'access_denied'
          ? new RefusedRequestError(400, 'the login was cancelled: log in again', {
              cause,
              detail: { check: 'login_cancelled' },
            })
          : incomplete(cause);
      });
    const claims = tokens.claims();
    const { id_token: sentToken } = tokens;
    if (!claims || sentToken === undefined)
      throw new RefusedRequestError(400, 'the login provider sent no ID token: log in again');
    await this.checkSignature(sentToken, config.serverMetadata());
    const { access_token: accessToken } = tokens;
    let isKept = false;
    try {
      const userInfo = await this.userInfo(config, accessToken, claims.sub);
      const session = this.sessionOf(claims, userInfo, state, sentToken);
      isKept = this.options.login.keepsToken;
      return { session, claims: { ...userInfo, ...claims }, accessToken, page: state.page };
    } finally {
      if (!isKept) await this.revokeAt(config, accessToken);
    }
  }

  private sessionOf(
    idToken: IDToken,
    userInfo: Partial<UserInfoResponse>,
    { startedAt, prompt }: LoginState,
    sent: string,
  ): Session {
    // In section 2 of Core, `auth_time` is a claim of ID tokens. In UserInfo, it may be an attribute that users edit.
    const { sub: subject, auth_time: time = 0 } = idToken;
    const name = nameOf({ ...userInfo, ...idToken });
    // Section 3.1.2.1 of Core: with prompt=login, the provider only "SHOULD" authenticate the user again.
    if (prompt === 'login' && (time + 1 + this.options.login.clockSkew) * 1000 < startedAt)
      throw new RefusedRequestError(403, 'the login provider did not ask for your password again', {
        detail: { check: 'login_response_invalid', failed: 'auth_time', operator: name },
      });
    const idTokenHint = sent.length > MAX_HINT ? null : sent;
    return { subject, name, authTime: time * 1000, startedAt: this.clock(), idToken: idTokenHint };
  }

  /** Although TLS authenticates the token endpoint (section 3.1.3.7 of Core), because a proxy may terminate TLS. */
  private async checkSignature(idToken: string, metadata: ServerMetadata): Promise<void> {
    // Without a list, openid-client accepts RS256.
    const { jwks_uri: url, id_token_signing_alg_values_supported: listed = ['RS256'] } = metadata;
    const { issuer, clockSkew: clockTolerance } = this.options.login;
    if (url === undefined || (!url.startsWith('https:') && !issuer.startsWith('http:')))
      throw incomplete(new Error('the login provider has no usable jwks_uri'));
    if (this.keys?.url !== url) this.keys = { url, get: fetchedKeys(url) };
    const algorithms = listed.filter(isAsymmetric);
    await verifyWithAnyKey(idToken, this.keys.get, { algorithms, clockTolerance }).catch((error: unknown) => {
      // Without the cause, because errors of jose contain the claims.
      throw error instanceof errors.JOSEError ? incomplete(new Error(`the ID token: ${error.code}`)) : error;
    });
  }

  /** Section 5.4 of Core: with a code, the claims of the scopes may be only in the UserInfo response. */
  private async userInfo(
    config: Configuration,
    accessToken: string,
    subject: string,
  ): Promise<Partial<UserInfoResponse>> {
    if (config.serverMetadata().userinfo_endpoint === undefined) return {};
    const client = await openid();
    return client.fetchUserInfo(config, accessToken, subject).catch((cause: unknown) => {
      throw incomplete(cause);
    });
  }

  /**
   * Revokes the token after its last use (RFC 7009). At this service, that ends the grant of the login. Does not revoke
   * a refresh token, because some providers then end the user's session.
   */
  async revoke(accessToken: string): Promise<void> {
    const config = await this.provider().catch(() => null);
    if (config) await this.revokeAt(config, accessToken);
  }

  private async revokeAt(config: Configuration, accessToken: string): Promise<void> {
    if (config.serverMetadata().revocation_endpoint === undefined) return;
    const client = await openid();
    await client
      .tokenRevocation(config, accessToken, { token_type_hint: 'access_token' })
      .catch((error: unknown) =>
        this.logger.warn(
          `the login provider did not revoke the access token of a login: ${messageOf(error)}`,
        ),
      );
  }

  /**
   * URL of the log-out at the provider (section 2 of RP-Initiated Logout 1.0), which returns to `/logged-out`.
   * @returns null if the provider has no log-out or does not respond
   */
  async logoutUrl(idToken: string | null): Promise<string | null> {
    const client = await openid();
    const config = await this.provider().catch(() => null);
    if (config?.serverMetadata().end_session_endpoint === undefined) return null;
    return client.buildEndSessionUrl(config, {
      post_logout_redirect_uri: `${this.options.url}/logged-out`,
      ...(idToken !== null && { id_token_hint: idToken }),
    }).href;
  }

  private async provider(): Promise<Configuration> {
    if (this.current && this.clock() - this.current.checkedAt < FRESH_MS) return this.current.config;
    const { issuer, clientId, clientSecret, clockSkew, invalidMetadata } = this.options.login;
    const client = await openid();
    const config = await client
      .discovery(
        new URL(issuer),
        clientId,
        { [client.clockTolerance]: clockSkew },
        client.ClientSecretBasic(clientSecret),
        {
          [client.customFetch]: providerFetch,
          // Does not verify signatures: openid-client would refuse a new key for a minute after it has fetched the
          // keys.
          execute: issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
        },
      )
      .catch((error: unknown) => {
        throw isUnavailable(error)
          ? new DependencyUnavailableError('login_provider', error)
          : new RefusedRequestError(502, invalidMetadata, { cause: error });
      });
    this.current = { config, checkedAt: this.clock() };
    return config;
  }
}

/** openid-client wraps the error of `providerFetch`. */
function isUnavailable(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++)
    if (cause instanceof DependencyUnavailableError) return true;
  return false;
}

function incomplete(cause: unknown): RefusedRequestError {
  return new RefusedRequestError(400, 'the login provider did not complete the login: log in again', {
    cause,
    detail: { check: 'login_response_invalid' },
  });
}

function nameOf({ preferred_username: username, email, sub }: IDToken): string {
  const names = [username, email].filter((value) => typeof value === 'string' && value !== '');
  const [name = sub] = names as string[];
  return name.slice(0, 100);
}
