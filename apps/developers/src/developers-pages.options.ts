import { AdministrationError } from '#operations/administration.error.js';
import { PagesOptions } from '#pages/pages.options.js';
import type { DevelopersConfiguration } from './developers.configuration.js';

export class DevelopersPagesOptions extends PagesOptions {
  readonly app = 'developers';
  readonly url: string;
  readonly login: PagesOptions['login'];

  constructor(configuration: DevelopersConfiguration) {
    super();
    this.url = configuration.DEVELOPERS_URL;
    this.login = {
      issuer: configuration.BASE_URL,
      clientId: configuration.DEVELOPERS_CLIENT_ID,
      clientSecret: configuration.DEVELOPERS_CLIENT_SECRET,
      scope: '',
      clockSkew: configuration.CLOCK_SKEW,
      keepsToken: true,
      invalidMetadata: 'the metadata at BASE_URL cannot be used: BASE_URL must be exactly its issuer',
    };
  }

  /** An unavailable database may have stored the change without responding. */
  changedNothing(error: unknown): boolean {
    return (
      error instanceof AdministrationError && error.kind !== 'incomplete' && error.kind !== 'unavailable'
    );
  }
}
