import type { JWTVerifyGetKey } from 'jose';
import type { UserSession } from '../session/user-session.store.js';

/** Parameters of a login, in the terms of OpenID Connect Core 3.1.2.1. */
export interface LoginStart {
  /** 256 random bits in base64url, which the browser must return. */
  readonly state: string;
  /** Name of the requesting application; null for our own pages. */
  readonly application: string | null;
  /** Query of the authorization request or page to continue with after the login. */
  readonly query: string;
  readonly prompt: readonly ('login' | 'select_account')[];
  /** Maximum age of the user's authentication in seconds; null for any. */
  readonly maxAge: number | null;
  readonly loginHint: string | null;
  readonly uiLocales: string | null;
}

export interface StartedLogin {
  readonly location: string;
  /** Stored in the login transaction until the callback, for example the nonce. */
  readonly details: Readonly<Record<string, string>>;
}

/** Rules for the provider's logout tokens (section 2.4 of OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutTokenRules {
  readonly keys: JWTVerifyGetKey;
  readonly audience: string;
  readonly algorithms: string[];
  /** The only accepted `typ`. If undefined, tokens without a `typ` are also accepted. */
  readonly typ?: string;
}

export abstract class LoginProvider {
  abstract start(login: LoginStart): Promise<StartedLogin>;

  /**
   * Never throws, because the session here has already ended.
   * @returns null if the provider has no log-out URL or is unavailable, or if the session did not start there
   */
  abstract logoutUrl(cookie: string, session: UserSession): Promise<string | null>;

  /** @throws FailedCheckError without a secure `jwks_uri`; other errors if the metadata cannot be fetched */
  abstract logoutTokenRules(): Promise<LogoutTokenRules>;
}
