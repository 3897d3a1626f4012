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
  constructor({ CONSOLE_URL }: ConsoleConfiguration) {
    super('console_browser', CONSOLE_URL);
  }
}
