import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { RandomCookie } from '#ui/browser-cookie.js';

export interface LoginRedirect {
  readonly location: string;
  /** Value of a new login cookie; null if the browser needs no new cookie. */
  readonly loginCookie: string | null;
}

/** Binds a login to the browser (RFC 6749 10.12). Unlike the session cookie, it survives a login in another tab. */
@Injectable()
export class LoginCookie extends RandomCookie {
  constructor(configuration: AuthorizeConfiguration) {
    super('login', configuration.AUTH_URL);
  }
}
