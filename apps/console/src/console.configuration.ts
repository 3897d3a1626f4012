import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import { DEFAULT_SCOPES_FILE } from '#scopes/scope-file.js';
import { ServiceConfiguration, settingsOf } from '#platform/configuration/service.configuration.js';
import { TogetherWith, UnlessEqual } from '#platform/configuration/variable-relations.js';
import {
  IsDatabaseUrl,
  DEFAULT_SCHEMA,
  IsIssuer,
  IsDisplayName,
  IsWholeNumber,
  IsOrigin,
  ParsedBy,
  IsSchema,
} from '#platform/configuration/variables.js';
import { IsOutsideHosts } from '#platform/http/outside-hosts.js';
import { IsRedisUrl } from '#platform/redis/redis-url.js';
import type { Settings } from '#platform/status/status-report.js';
import { IsNotEmpty, MinLength } from 'class-validator';
import { parseRoles, type RolesOfGroups } from './role.js';

export class ConsoleConfiguration extends ServiceConfiguration {
  override PORT = 3004;
  override INTERNAL_PORT = 9004;

  /** Origin of the console; must differ from the origins of the public apps. With https, the cookies are Secure. */
  @IsOrigin()
  CONSOLE_URL: string;

  @IsOrigin()
  AUTH_URL: string;

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

  /** Same value as in the other apps: hosts outside the public internet that may serve metadata documents. */
  @IsOutsideHosts()
  OUTSIDE_FETCH_ALLOW = '';

  /** The three must equal the values of the last `operator migrate`: the diagnosis compares them with the streams. */
  @IsWholeNumber(1, 3650)
  AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;

  @IsWholeNumber(1, 1_000_000)
  AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;

  @IsWholeNumber(1, 5)
  AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;

  /** OpenID provider of the operators; BASE_URL if operators log in at this service. */
  @IsIssuer()
  CONSOLE_ISSUER: string;

  @IsNotEmpty()
  CONSOLE_CLIENT_ID: string;

  /**
   * Also encrypts the sessions, kept forms and repeatable responses in Redis. Must be as hard to guess as 128 random bits
   * (RFC 6749 10.10).
   */
  @MinLength(22, {
    message:
      '$property must be at least 22 characters: 128 random bits, because it also encrypts the sessions',
  })
  CONSOLE_CLIENT_SECRET: string;

  /** Scopes to request in addition to `openid profile email`, so that the provider sends the groups claim. */
  CONSOLE_SCOPE = '';

  /**
   * Empty if `operator console grant` sets roles. Such roles require that CONSOLE_ISSUER is BASE_URL, because another
   * issuer may give the same `sub` to another person.
   */
  @TogetherWith('CONSOLE_ROLES')
  @UnlessEqual('CONSOLE_ISSUER', 'BASE_URL')
  CONSOLE_GROUPS_CLAIM = '';

  @ParsedBy(parseRoles, 'GROUP=viewer|support|admin, comma-separated')
  CONSOLE_ROLES = '';

  @IsWholeNumber(0, 300)
  CLOCK_SKEW = 5;

  get roles(): RolesOfGroups {
    return parseRoles(this.CONSOLE_ROLES);
  }

  override get publicUrl(): string {
    return this.CONSOLE_URL;
  }

  get sharedSettings(): Settings {
    return settingsOf(this, [
      'NODE_ENV',
      'AUTH_URL',
      'BASE_URL',
      'API_URL',
      'CONSOLE_URL',
      'PRODUCT_NAME',
      'DATABASE_SCHEMA',
      'CLOCK_SKEW',
    ]);
  }
}
