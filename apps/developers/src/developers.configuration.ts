import { IsNotEmpty } from 'class-validator';
import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import { changedNothing } from '#platform/validation/administration.error.js';
import type { AdministrationSettings } from '#operations/administration.options.js';
import { IsLoginSecret, PagesConfiguration } from '#pages/pages.configuration.js';
import type { PagesOptions } from '#pages/pages.options.js';
import { IsOrigin } from '#platform/configuration/variables.js';
import { DEFAULT_SCOPES_FILE } from '#scopes/scope-file.js';

export class DevelopersConfiguration extends PagesConfiguration {
  override PORT = 3005;
  override INTERNAL_PORT = 9005;

  /** Origin of the portal; must differ from the origins of the other apps. With https, the cookies are Secure. */
  @IsOrigin()
  DEVELOPERS_URL: string;

  /** Relative to the working directory; must be the same file in every process. */
  SCOPES_FILE = DEFAULT_SCOPES_FILE;

  /** Client by which owners log in at BASE_URL, registered with `--developer-portal`. */
  @IsNotEmpty()
  DEVELOPERS_CLIENT_ID: string;

  @IsLoginSecret()
  DEVELOPERS_CLIENT_SECRET: string;

  /** Origin of the console; empty without a console. No application of an owner may have it in a redirect URI. */
  @IsOrigin({ optional: true })
  CONSOLE_URL = '';

  override get publicUrl(): string {
    return this.DEVELOPERS_URL;
  }

  get pages(): PagesOptions {
    return {
      app: 'developers',
      url: this.DEVELOPERS_URL,
      login: {
        issuer: this.BASE_URL,
        clientId: this.DEVELOPERS_CLIENT_ID,
        clientSecret: this.DEVELOPERS_CLIENT_SECRET,
        scope: '',
        clockSkew: this.CLOCK_SKEW,
        keepsToken: true,
        invalidMetadata: 'the metadata at BASE_URL cannot be used: BASE_URL must be exactly its issuer',
      },
      changedNothing,
    };
  }

  /** Settings of operations. The empty ones are for operations that the portal does not have. */
  get administration(): AdministrationSettings {
    return {
      databaseUrl: this.DATABASE_URL,
      databaseSchema: this.DATABASE_SCHEMA,
      natsUrl: this.NATS_URL,
      auditNatsUrl: this.AUDIT_NATS_URL,
      authUrl: this.AUTH_URL,
      baseUrl: this.BASE_URL,
      apiUrl: this.API_URL,
      productName: this.PRODUCT_NAME,
      consoleUrl: this.CONSOLE_URL,
      developersUrl: this.DEVELOPERS_URL,
      consoleGroupsClaim: '',
      outsideFetchAllow: '',
      auditRetention: DEFAULT_AUDIT_RETENTION,
    };
  }
}
