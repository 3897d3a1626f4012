import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { DEFAULT_SCOPES_FILE } from '#oauth/scope-file.js';
import { ServiceConfiguration, settingsOf } from '#platform/configuration/service.configuration.js';
import { NotWith, OnlyWith, TogetherWith, WithOneOf } from '#platform/configuration/variable-relations.js';
import {
  AddressVariable,
  AuditUrlVariable,
  ChoiceVariable,
  DatabaseUrlVariable,
  DEFAULT_SCHEMA,
  IssuerVariable,
  KeysVariable,
  LinkVariable,
  listOf,
  NameVariable,
  NumberVariable,
  OriginsVariable,
  OriginVariable,
  SchemaVariable,
  UrlsVariable,
} from '#platform/configuration/variables.js';
import { PublicKeysVariable } from './hand-over-login/product-keys.js';
import { RedisUrlVariable } from '#platform/redis/redis-url.js';
import type { Settings } from '#platform/status/service-status.js';
import { ClaimsVariable, ScopeVariable } from './oidc-login/oidc-variables.js';

/** The environment of the authorize app. Lifetimes are seconds. */
export class AuthorizeConfiguration extends ServiceConfiguration {
  override PORT = 3001;
  override INTERNAL_PORT = 9001;

  /** {auth_url}: origin of this app. With https, cookies are Secure and HSTS is sent. */
  @OriginVariable()
  AUTH_URL: string;

  /** Name of the product, shown on every page. */
  @NameVariable()
  PRODUCT_NAME = 'Scheduling';

  /** SVG or PNG, relative to the working directory; shown in place of the name. */
  LOGO_FILE = '';
  /** The same for the dark scheme. */
  LOGO_DARK_FILE = '';

  /** Colour of buttons, links and the focus ring: `#rrggbb`. */
  ACCENT_COLOR = '';
  /** The same for the dark scheme; made of ACCENT_COLOR if absent. */
  ACCENT_COLOR_DARK = '';

  /** Home page of the product, linked on every page, as are the pages below. */
  @LinkVariable()
  PRODUCT_URL = '';
  @LinkVariable()
  PRIVACY_URL = '';
  @LinkVariable()
  TERMS_URL = '';
  @LinkVariable()
  HELP_URL = '';

  /** Origins from which pages load users' pictures. Each of them learns who visits a page. */
  @OriginsVariable()
  AVATAR_ORIGINS = '';

  /** {base_url}: the issuer (RFC 9207). */
  @OriginVariable()
  BASE_URL: string;

  /** {api_url}: origin of the API; clients may name it as a resource (RFC 8707). */
  @OriginVariable({ optional: true })
  API_URL = '';

  /** Origins of other APIs that accept access tokens, comma-separated. */
  @OriginsVariable()
  OTHER_API_URLS = '';

  /** File of the scopes, relative to the working directory; the same in every process. */
  SCOPES_FILE = DEFAULT_SCOPES_FILE;

  @DatabaseUrlVariable()
  DATABASE_URL: string;

  /** Schema of the tables. */
  @SchemaVariable()
  DATABASE_SCHEMA = DEFAULT_SCHEMA;

  @RedisUrlVariable()
  REDIS_URL: string;

  /** For broadcasting revocations. The app serves every request without NATS. */
  @UrlsVariable('nats', 'tls')
  NATS_URL: string;

  /** NATS with the user that publishes this app's events of the audit trail; by default that of NATS_URL. */
  @AuditUrlVariable()
  AUDIT_NATS_URL = '';

  @KeysVariable()
  TOKEN_KEYS: string;

  /** Whether every client must push its authorization requests (RFC 9126 5), or only those registered with --require-par. */
  @ChoiceVariable('true', 'false')
  REQUIRE_PAR = 'false';

  @NumberVariable(1, 600)
  CODE_LIFETIME = DEFAULT_LIFETIMES.code;

  /** How long a grant is recorded. The token app sets the lifetime of tokens by its own variable. */
  @NumberVariable(1, 366 * 24 * 60 * 60)
  REFRESH_TOKEN_LIFETIME = DEFAULT_LIFETIMES.refreshToken;

  @NumberVariable(0, 300)
  CLOCK_SKEW = DEFAULT_LIFETIMES.clockSkew;

  /** Idle timeout of a session. */
  @NumberVariable(60, 30 * 24 * 60 * 60)
  SESSION_IDLE_LIFETIME = 12 * 60 * 60;

  /** Absolute timeout of a session, which also bounds the use of a stolen cookie. */
  @NumberVariable(60, 366 * 24 * 60 * 60)
  SESSION_LIFETIME = 30 * 24 * 60 * 60;

  /** OpenID provider where users log in; empty if they log in here, by password. Also the issuer of these users' identities. */
  @IssuerVariable()
  LOGIN_ISSUER = '';

  @TogetherWith('LOGIN_ISSUER')
  LOGIN_CLIENT_ID = '';

  @TogetherWith('LOGIN_ISSUER')
  LOGIN_CLIENT_SECRET = '';

  /** What is asked of the provider (OpenID Connect Core 5.4). */
  @ScopeVariable('openid')
  LOGIN_SCOPE = 'openid profile email';

  /** Which claims become which fields of a user, where they are not the standard ones: `field=claim`, comma-separated. */
  @ClaimsVariable()
  LOGIN_CLAIMS = '';

  /** The product's login page, for a login by hand-over; its origin is the issuer of these users' identities. */
  @AddressVariable()
  @NotWith('LOGIN_ISSUER')
  @WithOneOf('LOGIN_PUBLIC_KEY', 'LOGIN_JWKS_URL')
  LOGIN_URL = '';

  /** The keys that the product's login page signs with: PEM, JWK or JWK Set. */
  @PublicKeysVariable()
  @OnlyWith('LOGIN_URL')
  LOGIN_PUBLIC_KEY = '';

  /** Address of these keys as a JWK Set. */
  @AddressVariable()
  @OnlyWith('LOGIN_URL')
  LOGIN_JWKS_URL = '';

  /** Whether a user who logs in elsewhere for the first time gets the account that has the same verified e-mail. */
  @ChoiceVariable('true', 'false')
  LOGIN_LINK_BY_EMAIL = 'false';

  get auditUrl(): string {
    return this.AUDIT_NATS_URL || this.NATS_URL;
  }

  override get publicUrl(): string {
    return this.AUTH_URL;
  }

  /** Settings whose values must agree in all processes that have them. */
  get sharedSettings(): Settings {
    return settingsOf(this, [
      'NODE_ENV',
      'AUTH_URL',
      'BASE_URL',
      'API_URL',
      'OTHER_API_URLS',
      'PRODUCT_NAME',
      'DATABASE_SCHEMA',
      'REQUIRE_PAR',
      'CODE_LIFETIME',
      'REFRESH_TOKEN_LIFETIME',
      'CLOCK_SKEW',
      'LOGIN_ISSUER',
      'LOGIN_URL',
      'LOGIN_LINK_BY_EMAIL',
    ]);
  }

  get apis(): string[] {
    return [this.API_URL, ...listOf(this.OTHER_API_URLS)].filter((origin) => origin !== '');
  }

  /** Where users log in, if not here. */
  get loginSite(): string | null {
    return this.LOGIN_ISSUER || this.LOGIN_URL || null;
  }

  /** Issuer of the identities of users who log in elsewhere. */
  get loginIssuer(): string {
    return this.LOGIN_URL === '' ? this.LOGIN_ISSUER : new URL(this.LOGIN_URL).origin;
  }

  get avatarOrigins(): string[] {
    return listOf(this.AVATAR_ORIGINS);
  }
}

/** Injection token of the clock. */
export const CLOCK = Symbol('clock');

/** Milliseconds since the epoch. */
export type Clock = () => number;
