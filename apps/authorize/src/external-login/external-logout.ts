import { Injectable } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { LogoutContinuation } from '../logout/logout-continuation.js';
import type { LoginRedirect } from '../session/login-cookie.js';
import type { Session } from '../session/session.store.js';
import { ExternalLoginService } from './external-login.service.js';
import { LoginProvider } from './login-provider.js';

@Injectable()
export class ExternalLogout extends LogoutContinuation {
  /** The login page would redirect to the provider, and the provider may log the user in again. */
  readonly landing = ENDPOINTS.logout;

  constructor(
    private readonly provider: LoginProvider,
    private readonly logins: ExternalLoginService,
    private readonly requests: AuthorizationRequestService,
  ) {
    super();
  }

  providerUrl(cookie: string, session: Session): Promise<string | null> {
    return this.provider.logoutUrl(cookie, session);
  }

  async logInAgain(
    browser: { readonly cookies: string | undefined; readonly address: string },
    query: string,
  ): Promise<LoginRedirect> {
    const request = await this.requests.validateOrNull(query, null);
    // Without select_account, the provider may log the same user in again.
    return this.logins.start(browser, query, request, ['select_account']);
  }
}
