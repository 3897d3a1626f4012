import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { ServiceConfiguration } from '#platform/configuration/service.configuration.js';
import {
  ChoiceVariable,
  DatabaseUrlVariable,
  KeysVariable,
  listOf,
  NumberVariable,
  OriginsVariable,
  OriginVariable,
  SchemaVariable,
  UrlsVariable,
} from '#platform/configuration/variables.js';
import { RedisUrlVariable } from '#platform/redis/redis-url.js';

/** The environment of the authorize app. Lifetimes are seconds. */
export class AuthorizeConfiguration extends ServiceConfiguration {
  override PORT = 3001;
  override INTERNAL_PORT = 9001;

  /** Where browsers reach this app; https makes cookies Secure and turns HSTS on. */
  @OriginVariable()
  AUTH_URL: string;

  /** What users know this service as; it stands on every page. */
  PRODUCT_NAME = 'Scheduling';

  /** Where users' pictures may come from; browsers would tell any other site who is logging in to what. */
  @OriginsVariable()
  AVATAR_ORIGINS = '';

  /** The issuer (RFC 9207). */
  @OriginVariable()
  BASE_URL: string;

  /** Origin of the API; clients may name it as a resource (RFC 8707). */
  @OriginVariable({ optional: true })
  API_URL = '';

  /** Origins of other APIs that accept access tokens, comma-separated. */
  @OriginsVariable()
  OTHER_API_URLS = '';

  @DatabaseUrlVariable()
  DATABASE_URL: string;

  /** Schema of this service's tables, in a database that it shares. */
  @SchemaVariable()
  DATABASE_SCHEMA = '';

  @RedisUrlVariable()
  REDIS_URL: string;

  /** Where it tells everybody that a user revoked something; it serves everything without. */
  @UrlsVariable('nats', 'tls')
  NATS_URL: string;

  @KeysVariable()
  TOKEN_KEYS: string;

  /** Whether every client must push its authorization requests (RFC 9126 5); else those registered so. */
  @ChoiceVariable('true', 'false')
  REQUIRE_PAR = 'false';

  @NumberVariable(1, 600)
  CODE_LIFETIME = DEFAULT_LIFETIMES.code;

  /** Only for how long a user's permission is recorded; the token app counts the tokens. */
  @NumberVariable(1, 366 * 24 * 60 * 60)
  REFRESH_TOKEN_LIFETIME = DEFAULT_LIFETIMES.refreshToken;

  @NumberVariable(0, 300)
  CLOCK_SKEW = DEFAULT_LIFETIMES.clockSkew;

  /** How long a login outlives the last request made with it. */
  @NumberVariable(60, 30 * 24 * 60 * 60)
  SESSION_IDLE_LIFETIME = 12 * 60 * 60;

  /** How long a login lasts however much it is used: a cookie that was stolen ends, too. */
  @NumberVariable(60, 366 * 24 * 60 * 60)
  SESSION_LIFETIME = 30 * 24 * 60 * 60;

  override get publicUrl(): string {
    return this.AUTH_URL;
  }

  get apis(): string[] {
    return [this.API_URL, ...listOf(this.OTHER_API_URLS)].filter((origin) => origin !== '');
  }

  get avatarOrigins(): string[] {
    return listOf(this.AVATAR_ORIGINS);
  }
}

/** Injection token of the clock. */
export const CLOCK = Symbol('clock');

/** Milliseconds since the epoch. */
export type Clock = () => number;
