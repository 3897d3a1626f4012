import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { RandomCookie } from '../session/session.service.js';

/**
 * Binds a login to the browser that began it. Otherwise an attacker could let a victim finish the attacker's own login
 * (login CSRF, RFC 6749 10.12). Not the session cookie, which changes with each login: the logins of several tabs must all
 * finish.
 */
@Injectable()
export class LoginCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('login', configuration);
  }
}
