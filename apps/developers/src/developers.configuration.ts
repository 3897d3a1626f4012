import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import type { AdministrationSettings } from '#operations/administration.options.js';
import { DEFAULT_SCOPES_FILE } from '#scopes/scope-file.js';
import { ServiceConfiguration, settingsOf } from '#platform/configuration/service.configuration.js';
import {
  DEFAULT_SCHEMA,
  IsDatabaseUrl,
  IsDisplayName,
  IsOrigin,
  IsSchema,
  IsWholeNumber,
} from '#platform/configuration/variables.js';
import { IsRedisUrl } from '#platform/redis/redis-url.js';
import type { Settings } from '#platform/status/status-report.js';
import { IsNotEmpty, MinLength } from 'class-validator';

export class DevelopersConfiguration extends ServiceConfiguration {
  override PORT = 3005;
  override INTERNAL_PORT = 9005;

  /** Origin of the portal; must differ from the origins of the other apps. With https, the cookies are Secure. */
  @IsOrigin()
  DEVELOPERS_URL: string;

  @IsOrigin()
  AUTH_URL: string;

  /** Also the OpenID provider at which owners log in. */
  @IsOrigin()
  BASE_URL: string;

  @IsOrigin()
  API_URL: string;

  @IsDisplayName()
  PRODUCT_NAME = 'Scheduling';

  ACCENT_COLOR = '';
  /** Derived from ACCENT_COLOR if empty. */
  ACCENT_COLOR_DARK = '';

  /** Relative to the working directory; must be the same file in every process. */
  SCOPES_FILE = DEFAULT_SCOPES_FILE;

  @IsDatabaseUrl()
  DATABASE_URL: string;

  @IsSchema()
  DATABASE_SCHEMA = DEFAULT_SCHEMA;

  @IsRedisUrl()
  REDIS_URL: string;

  /** Client by which owners log in, registered with `--developer-portal`. */
  @IsNotEmpty()
  DEVELOPERS_CLIENT_ID: string;

  /**
   * Also encrypts the sessions, kept forms and repeatable responses in Redis. Must be as hard to guess as 128 random bits
   * (RFC 6749 10.10).
   */
  @MinLength(22, {
    message:
      '$property must be at least 22 characters: 128 random bits, because it also encrypts the sessions',
  })
  DEVELOPERS_CLIENT_SECRET: string;

  @IsWholeNumber(0, 300)
  CLOCK_SKEW = 5;

  override get publicUrl(): string {
    return this.DEVELOPERS_URL;
  }

  /** Settings of operations. The portal neither fetches documents nor changes the console. */
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
      CONSOLE_URL: '',
      CONSOLE_GROUPS_CLAIM: '',
      OUTSIDE_FETCH_ALLOW: '',
      AUDIT_RETENTION_DAYS: DEFAULT_AUDIT_RETENTION.days,
      AUDIT_MAX_MEGABYTES: DEFAULT_AUDIT_RETENTION.megabytes,
      AUDIT_REPLICAS: DEFAULT_AUDIT_RETENTION.replicas,
    };
  }

  get sharedSettings(): Settings {
    return settingsOf(this, [
      'NODE_ENV',
      'AUTH_URL',
      'BASE_URL',
      'API_URL',
      'PRODUCT_NAME',
      'DATABASE_SCHEMA',
      'CLOCK_SKEW',
    ]);
  }
}
