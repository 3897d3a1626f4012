import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RandomCookie } from '#ui/browser-cookie.js';
import { ConsoleConfiguration } from '../console.configuration.js';

/** Identifies the session. */
@Injectable()
export class ConsoleCookie extends RandomCookie {
  constructor({ CONSOLE_URL }: ConsoleConfiguration) {
    super('console', CONSOLE_URL);
  }
}

/** Identifies the browser, also after another login: binds logins, CSRF tokens, kept and repeated forms to it. */
@Injectable()
export class BrowserCookie extends RandomCookie {
  constructor(private readonly configuration: ConsoleConfiguration) {
    super('console_browser', configuration.CONSOLE_URL);
  }

  /** Returns the key that proves that this service issued a form id to a browser. */
  formIdKey(browser: string): string {
    return this.keyOf(`form ids of the console:${browser}`);
  }

  /** Returns the key of CSRF tokens for a user in a browser. */
  formKey(browser: string, subject: string): string {
    return this.keyOf(`forms of the console:${browser} ${subject}`);
  }

  private keyOf(purpose: string): string {
    return createHmac('sha256', this.configuration.CONSOLE_CLIENT_SECRET).update(purpose).digest('base64url');
  }
}
