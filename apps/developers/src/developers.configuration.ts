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
      DATABASE_URL: this.DATABASE_URL,
      DATABASE_SCHEMA: this.DATABASE_SCHEMA,
      NATS_URL: this.NATS_URL,
      AUDIT_NATS_URL: this.AUDIT_NATS_URL,
      AUTH_URL: this.AUTH_URL,
      BASE_URL: this.BASE_URL,
      API_URL: this.API_URL,
      PRODUCT_NAME: this.PRODUCT_NAME,
      CONSOLE_URL: this.CONSOLE_URL,
      DEVELOPERS_URL: this.DEVELOPERS_URL,
      CONSOLE_GROUPS_CLAIM: '',
      OUTSIDE_FETCH_ALLOW: '',
      AUDIT_RETENTION_DAYS: DEFAULT_AUDIT_RETENTION.days,
      AUDIT_MAX_MEGABYTES: DEFAULT_AUDIT_RETENTION.megabytes,
      AUDIT_REPLICAS: DEFAULT_AUDIT_RETENTION.replicas,
    };
  }
}
