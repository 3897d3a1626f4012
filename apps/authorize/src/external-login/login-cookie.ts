import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { RandomCookie } from '#ui/browser-cookie.js';

/**
 * Binds a login to its browser (RFC 6749 10.12): the session cookie changes, but logins of several tabs must finish.
 */
@Injectable()
export class LoginCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('login', configuration.AUTH_URL);
  }
}
