import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RandomCookie } from '#ui/browser-cookie.js';
import { PagesOptions } from './pages.options.js';

/** Identifies the session. */
@Injectable()
export class SessionCookie extends RandomCookie {
  constructor({ app, url }: PagesOptions) {
    super(app, url);
  }
}

/** Identifies the browser, also after another login: binds logins, CSRF tokens, kept and repeated forms to it. */
@Injectable()
export class BrowserCookie extends RandomCookie {
  constructor(private readonly options: PagesOptions) {
    super(`${options.app}_browser`, options.url);
  }

  /** Returns the key that proves that this service issued a form id to a browser. */
  formIdKey(browser: string): string {
    return this.keyOf(`form ids of the ${this.options.app}:${browser}`);
  }

  /** Returns the key of CSRF tokens for a user in a browser. */
  formKey(browser: string, subject: string): string {
    return this.keyOf(`forms of the ${this.options.app}:${browser} ${subject}`);
  }

  private keyOf(purpose: string): string {
    return createHmac('sha256', this.options.login.clientSecret).update(purpose).digest('base64url');
  }
}
