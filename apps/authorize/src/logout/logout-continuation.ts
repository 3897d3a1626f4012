import type { LoginRedirect } from '../session/login-cookie.js';
import type { Session } from '../session/session.store.js';

export abstract class LogoutContinuation {
  /** Page of this app after a log-out. */
  abstract readonly landing: string;

  /** URL at the provider, which returns to ENDPOINTS.logout. Never throws, because the session here has ended. */
  abstract providerUrl(cookie: string, session: Session): Promise<string | null>;

  /** Continues an authorization request with a new login, for example as another user. */
  abstract logInAgain(
    browser: { readonly cookies: string | undefined; readonly address: string },
    query: string,
  ): Promise<LoginRedirect>;
}
