import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { RandomCookie } from '#ui/browser-cookie.js';

/**
 * Binds a login to the browser that started it (login CSRF, RFC 6749 10.12). The session cookie changes with each login, but
 * the logins of several tabs must all finish.
 */
@Injectable()
export class LoginCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('login', configuration.AUTH_URL);
  }
}
