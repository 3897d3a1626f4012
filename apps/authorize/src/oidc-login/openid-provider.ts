import { Inject, Injectable, Logger } from '@nestjs/common';
import { errors, type JWTVerifyGetKey } from 'jose';
import type { Configuration, IDToken, ServerMetadata, UserInfoResponse } from 'openid-client';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { messageOf } from '#platform/errors.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import {
  type LoginProvider,
  type LoginStart,
  type LogoutTokenRules,
  type StartedLogin,
} from '../external-login/login-provider.js';
import type { LoginTransaction } from '../external-login/login-transaction.store.js';
import { FailedCheckError } from '../external-login/external-login.error.js';
import { isSubject } from '../configuration/profile-claims.js';
import { providerFetch } from '#platform/http/provider-fetch.js';
import { fetchedKeys, isAsymmetric, verifyWithAnyKey } from '#platform/http/provider-keys.js';
import { decrypt } from '#platform/encryption.js';
import { idTokenKey, type UserSession } from '../session/user-session.store.js';
import { externalLoginError } from './login-failure.js';

export interface Authenticated {
  readonly claims: IDToken;
  /** Null if the provider has no userinfo endpoint. */
  readonly userInfo: UserInfoResponse | null;
  readonly idToken: string;
}

/** Maximum age in ms of metadata before a redirect. Short, so that users see our error page if the provider is down. */
const FRESH_MS = 15_000;

// Loaded at the first use, so that a process without a provider never loads the library.
const openid = () => import('openid-client');

/** Implements OpenID Connect Core 1.0, Discovery 1.0 and RP-Initiated Logout 1.0 as a client. */
@Injectable()
export class OpenIdProvider implements LoginProvider {
  private readonly logger = new Logger(OpenIdProvider.name);
  private readonly callback: string;
  private current: { readonly config: Configuration; readonly checkedAt: number } | null = null;
  private pending: Promise<Configuration> | null = null;
  private keys: { readonly url: string; readonly get: JWTVerifyGetKey } | null = null;

  constructor(
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.callback = configuration.AUTH_URL + ENDPOINTS.loginCallback;
  }

  /** Starts a code flow with PKCE, state and nonce (OpenID Connect Core 3.1.2.1, RFC 7636, RFC 9700 2.1.1). */
  async start(login: LoginStart): Promise<StartedLogin> {
    try {
      return await this.authorizationRequest(login);
    } catch (error) {
      throw externalLoginError(error, login.query);
    }
  }

  private async authorizationRequest(login: LoginStart): Promise<StartedLogin> {
    const { state, prompt, maxAge, loginHint, uiLocales } = login;
    const config = await this.freshMetadata();
    const client = await openid();
    const verifier = client.randomPKCECodeVerifier();
    const nonce = client.randomNonce();
    const prompts = prompt.map((value) => supportedPrompt(value, config.serverMetadata()));
    const location = client.buildAuthorizationUrl(config, {
      redirect_uri: this.callback,
      scope: this.configuration.LOGIN_SCOPE,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(prompts.length > 0 && { prompt: [...new Set(prompts)].join(' ') }),
      ...(maxAge !== null && { max_age: String(maxAge) }),
      ...(loginHint !== null && { login_hint: loginHint }),
      ...(uiLocales !== null && { ui_locales: uiLocales }),
    });
    const details = {
      verifier,
      nonce,
      ...(maxAge !== null && { maxAge: String(maxAge) }),
      ...(prompt.includes('login') && { reauthenticate: 'yes' }),
    };
    return { location: location.href, details };
  }

  /** Validates responses (OpenID Connect Core 3.1.2.7, 3.1.3.7, 5.3.2, RFC 9207 2.4). @throws ExternalLoginError */
  async authenticate(query: string, state: string, transaction: LoginTransaction): Promise<Authenticated> {
    try {
      return await this.exchange(query, state, transaction);
    } catch (error) {
      throw externalLoginError(error, transaction.query);
    }
  }

  private async exchange(
    query: string,
    state: string,
    { details, startedAt }: LoginTransaction,
  ): Promise<Authenticated> {
    const config = await this.anyMetadata();
    const client = await openid();
    const { verifier = '', nonce = '', maxAge, reauthenticate } = details;
    const tokens = await client.authorizationCodeGrant(config, new URL(`${this.callback}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
      ...(maxAge !== undefined && { maxAge: Number(maxAge) }),
    });
    const claims = tokens.claims();
    if (!claims || tokens.id_token === undefined) throw new Error('the ID token is missing');
    if (!isSubject(claims.sub))
      throw new FailedCheckError('sub', 'the sub of the ID token is not 1 to 255 printable ASCII characters');
    await this.checkSignature(tokens.id_token, config.serverMetadata());
    if (reauthenticate !== undefined) this.checkReauthentication(claims, startedAt);
    const { userinfo_endpoint: endpoint } = config.serverMetadata();
    const userInfo =
      endpoint === undefined ? null : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { claims, userInfo, idToken: tokens.id_token };
  }

  /** Although TLS authenticates the token endpoint (OpenID Connect Core 3.1.3.7), because a proxy may terminate TLS. */
  private async checkSignature(idToken: string, metadata: ServerMetadata): Promise<void> {
    const { CLOCK_SKEW: clockTolerance } = this.configuration;
    const { keys, algorithms } = this.signingKeys(metadata);
    await verifyWithAnyKey(idToken, keys, { algorithms, clockTolerance }).catch((error: unknown) => {
      // Without the cause, because errors of jose contain the claims.
      if (error instanceof errors.JOSEError)
        throw new FailedCheckError('signature', `the signature of the ID token is not valid: ${error.code}`);
      throw error;
    });
  }

  /** @throws FailedCheckError without a jwks_uri, or with a URL that TLS does not protect */
  private signingKeys(metadata: ServerMetadata): Pick<LogoutTokenRules, 'keys' | 'algorithms'> {
    // Without a list, openid-client accepts RS256.
    const { jwks_uri: url, id_token_signing_alg_values_supported: listed = ['RS256'] } = metadata;
    const isProtected = url?.startsWith('https:') || this.configuration.LOGIN_ISSUER.startsWith('http:');
    if (url === undefined || !isProtected)
      throw new FailedCheckError('jwks_uri', 'the provider has no usable jwks_uri');
    if (this.keys?.url !== url) this.keys = { url, get: fetchedKeys(url) };
    return { keys: this.keys.get, algorithms: listed.filter(isAsymmetric) };
  }

  /** OpenID Connect Core 3.1.2.1: a provider "SHOULD prompt the End-User for reauthentication" for prompt=login. */
  private checkReauthentication({ auth_time: authTime }: IDToken, startedAt: number): void {
    if (authTime === undefined) return;
    if (authTime + 1 + this.configuration.CLOCK_SKEW >= startedAt / 1000) return;
    throw new FailedCheckError('auth_time', 'the user did not log in again');
  }

  /** Our log-out URL must be registered at the provider as a post_logout_redirect_uri (RP-Initiated Logout 1.0). */
  async logoutUrl(cookie: string, { external }: UserSession): Promise<string | null> {
    if (!external) return null;
    try {
      const config = await this.freshMetadata();
      if (config.serverMetadata().end_session_endpoint === undefined) return null;
      const hint = external.idToken === undefined ? null : decrypt(external.idToken, idTokenKey(cookie));
      const client = await openid();
      return client.buildEndSessionUrl(config, {
        post_logout_redirect_uri: this.configuration.AUTH_URL + ENDPOINTS.logout,
        ...(hint !== null && { id_token_hint: hint }),
      }).href;
    } catch (error) {
      this.logger.warn(`not logged out at the provider: ${messageOf(error)}`);
      return null;
    }
  }

  async logoutTokenRules(): Promise<LogoutTokenRules> {
    // Back-Channel Logout 1.0 2.6: the algorithms of ID tokens.
    const signing = this.signingKeys((await this.anyMetadata()).serverMetadata());
    return { ...signing, audience: this.configuration.LOGIN_CLIENT_ID };
  }

  private async anyMetadata(): Promise<Configuration> {
    return this.current?.config ?? this.discover();
  }

  private async freshMetadata(): Promise<Configuration> {
    const fresh = this.current && this.clock() - this.current.checkedAt < FRESH_MS;
    return fresh && this.current ? this.current.config : this.discover();
  }

  /** Concurrent calls share one request. Failures are not cached. */
  private discover(): Promise<Configuration> {
    this.pending ??= this.readMetadata().finally(() => (this.pending = null));
    return this.pending;
  }

  private async readMetadata(): Promise<Configuration> {
    const { LOGIN_ISSUER, LOGIN_CLIENT_ID, LOGIN_CLIENT_SECRET, CLOCK_SKEW } = this.configuration;
    const client = await openid();
    const config = await client.discovery(
      new URL(LOGIN_ISSUER),
      LOGIN_CLIENT_ID,
      { [client.clockTolerance]: CLOCK_SKEW },
      // The metadata lists the accepted methods; Discovery 3: "If omitted, the default is client_secret_basic".
      (server, ...request) => {
        const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
        const authenticate = methods.includes('client_secret_basic')
          ? client.ClientSecretBasic(LOGIN_CLIENT_SECRET)
          : client.ClientSecretPost(LOGIN_CLIENT_SECRET);
        return authenticate(server, ...request);
      },
      {
        [client.customFetch]: providerFetch,
        // Does not verify signatures: openid-client would refuse a new key for a minute after it has fetched the keys.
        execute: LOGIN_ISSUER.startsWith('http:') ? [client.allowInsecureRequests] : [],
      },
    );
    const { issuer } = config.serverMetadata();
    // Discovery 4.3 requires an "identical" issuer. openid-client ignores a trailing slash, but identities do not.
    if (issuer !== LOGIN_ISSUER) throw new FailedCheckError('issuer', `LOGIN_ISSUER must be ${issuer}`);
    this.current = { config, checkedAt: this.clock() };
    return config;
  }
}

/** Replaces unsupported values, which providers reject, with `login`, which also allows another account. */
function supportedPrompt(prompt: string, { prompt_values_supported: supported }: ServerMetadata): string {
  return Array.isArray(supported) && supported.includes(prompt) ? prompt : 'login';
}
