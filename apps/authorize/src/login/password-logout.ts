import { Injectable } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { LogoutContinuation } from '../logout/logout-continuation.js';
import { FLASH_QUERY } from '../session/flash-message.store.js';
import type { LoginRedirect } from '../session/login-cookie.js';
import { withQuery } from '../urls.js';

@Injectable()
export class PasswordLogout extends LogoutContinuation {
  readonly landing = withQuery(ENDPOINTS.login, FLASH_QUERY);

  providerUrl(): Promise<null> {
    return Promise.resolve(null);
  }

  logInAgain(_browser: unknown, query: string): Promise<LoginRedirect> {
    return Promise.resolve({ location: withQuery(ENDPOINTS.login, query), loginCookie: null });
  }
}
