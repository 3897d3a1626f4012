import { MinLength } from 'class-validator';
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

/** Variables of every app with pages for logged-in users. */
export abstract class PagesConfiguration extends ServiceConfiguration {
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

  @IsDatabaseUrl()
  DATABASE_URL: string;

  @IsSchema()
  DATABASE_SCHEMA = DEFAULT_SCHEMA;

  @IsRedisUrl()
  REDIS_URL: string;

  @IsWholeNumber(0, 300)
  CLOCK_SKEW = 5;

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

/**
 * Client secret of the login, which also encrypts the sessions, kept forms and repeatable responses in Redis. Must be
 * as hard to guess as 128 random bits (RFC 6749 10.10).
 */
export const IsLoginSecret = (): PropertyDecorator =>
  MinLength(22, {
    message:
      '$property must be at least 22 characters: 128 random bits, because it also encrypts the sessions',
  });
