import { Injectable } from '@nestjs/common';
import { RandomCookie } from '#ui/browser-cookie.js';
import { ConsoleConfiguration } from '../console.configuration.js';

/** Identifies the session, and keys the CSRF tokens of its forms. */
@Injectable()
export class ConsoleCookie extends RandomCookie {
  constructor({ CONSOLE_URL }: ConsoleConfiguration) {
    super('console', CONSOLE_URL);
  }
}

/** Binds a login to the browser that started it. */
@Injectable()
export class ConsoleLoginCookie extends RandomCookie {
  constructor({ CONSOLE_URL }: ConsoleConfiguration) {
    super('console_login', CONSOLE_URL);
  }
}

/** Binds a form that is kept during a login to the browser that sent it. */
@Injectable()
export class ConsoleDraftCookie extends RandomCookie {
  constructor({ CONSOLE_URL }: ConsoleConfiguration) {
    super('console_draft', CONSOLE_URL);
  }
}
