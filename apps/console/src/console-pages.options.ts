import { AdministrationError } from '#operations/administration.error.js';
import { PagesOptions } from '#pages/pages.options.js';
import type { ConsoleConfiguration } from './console.configuration.js';

export class ConsolePagesOptions extends PagesOptions {
  readonly app = 'console';
  readonly url: string;
  readonly login: PagesOptions['login'];

  constructor(configuration: ConsoleConfiguration) {
    super();
    this.url = configuration.CONSOLE_URL;
    this.login = {
      issuer: configuration.CONSOLE_ISSUER,
      clientId: configuration.CONSOLE_CLIENT_ID,
      clientSecret: configuration.CONSOLE_CLIENT_SECRET,
      scope: configuration.CONSOLE_SCOPE,
      clockSkew: configuration.CLOCK_SKEW,
      keepsToken: false,
      // Section 4.3 of Discovery: the issuer of the metadata must be identical to the configured issuer.
      invalidMetadata:
        'the metadata of the login provider cannot be used: CONSOLE_ISSUER must be exactly the issuer in its metadata',
    };
  }

  /** An unavailable database may have stored the change without responding. */
  changedNothing(error: unknown): boolean {
    return (
      error instanceof AdministrationError && error.kind !== 'incomplete' && error.kind !== 'unavailable'
    );
  }
}
