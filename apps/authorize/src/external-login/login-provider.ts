import type { JWTVerifyGetKey } from 'jose';
import type { Session } from '../session/session.store.js';

/** What the login is for, in the terms of OpenID Connect Core 3.1.2.1. */
export interface LoginStart {
  /** 256 random bits, in base64url. It must come back with the browser. */
  readonly state: string;
  /** Name of the application that requested the login; null for our own pages. */
  readonly application: string | null;
  /** Of the authorization request or page that the login is for; an error's page starts again with it. */
  readonly query: string;
  readonly prompt: readonly ('login' | 'select_account')[];
  /** Seconds since the user last authenticated; null for any time. */
  readonly maxAge: number | null;
  readonly loginHint: string | null;
  /** Languages, space-separated. */
  readonly uiLocales: string | null;
}

export interface StartedLogin {
  /** Where the browser goes. */
  readonly location: string;
  /** Needed again when the browser returns; the browser never sees it. */
  readonly details: Readonly<Record<string, string>>;
}

/** The logout tokens (OpenID Connect Back-Channel Logout 1.0 2.4) that this service accepts of the login. */
export interface LogoutTokenRules {
  readonly keys: JWTVerifyGetKey;
  readonly audience: string;
  readonly algorithms: string[];
  /** The only accepted `typ`; absent if tokens without one are accepted. */
  readonly typ?: string;
}

/** The product's own login, to which this service sends its users. A way of logging in implements it. */
export abstract class LoginProvider {
  /** @throws ExternalLoginError if the provider cannot be asked */
  abstract start(login: LoginStart): Promise<StartedLogin>;

  /**
   * Where a browser continues after it was logged out here, so that it is logged out there too.
   *
   * @param cookie whose session it was
   * @returns null if the provider has no such address, or cannot be asked. Never throws: the log-out here has happened.
   */
  abstract logoutAddress(cookie: string, session: Session): Promise<string | null>;

  /** @throws InvalidLogoutTokenError if the provider publishes no keys; DependencyUnavailableError if it does not answer */
  abstract logoutTokenRules(): Promise<LogoutTokenRules>;
}
