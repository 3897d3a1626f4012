import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { ID_TOKEN_KEYS_RULE, SigningKeys } from '#oauth/openid/signing-keys.js';
import { DEFAULT_SCOPES_FILE, scopeFile } from '#oauth/scope-file.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ConfigurationFile, readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { ServiceConfiguration, settingsOf } from '#platform/configuration/service.configuration.js';
import { NotWith, OnlyWith, TogetherWith, WithOneOf } from '#platform/configuration/variable-relations.js';
import {
  UrlVariable,
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
  ParsedVariable,
  SchemaVariable,
} from '#platform/configuration/variables.js';
import { MetadataHostsVariable } from '#clients/documents/metadata-hosts.js';
import { type Brand, readBrand } from '#ui/brand/brand.js';
import { OutsideHostsVariable } from '#platform/http/outside-hosts.js';
import { PublicKeysVariable } from './product-keys.js';
import { RedisUrlVariable } from '#platform/redis/redis-url.js';
import type { Settings } from '#platform/status/status-report.js';
import { ClaimsVariable, ScopeVariable } from './oidc-variables.js';

/** Environment variables of the authorize app. Lifetimes are in seconds. */
export class AuthorizeConfiguration extends ServiceConfiguration {
  override PORT = 3001;
  override INTERNAL_PORT = 9001;

  /** Origin of this app, {auth_url} in the documentation. An https origin makes cookies Secure and enables HSTS. */
  @OriginVariable() AUTH_URL: string;
  @NameVariable() PRODUCT_NAME = 'Scheduling';

  /** Path of an SVG or PNG file, relative to the working directory. Pages show the logo in place of the name. */
  LOGO_FILE = '';
  LOGO_DARK_FILE = '';

  /** Colour of buttons and links, as `#rgb` or `#rrggbb`. If empty, the default colour applies. */
  ACCENT_COLOR = '';
  /** Accent colour of the dark scheme. If empty, the colour is derived from ACCENT_COLOR, or the default. */
  ACCENT_COLOR_DARK = '';

  /** Every page links to this URL and to the three URLs below, unless they are empty. */
  @LinkVariable() PRODUCT_URL = '';
  @LinkVariable() PRIVACY_URL = '';
  @LinkVariable() TERMS_URL = '';
  @LinkVariable() HELP_URL = '';

  /** Origins from which pages load users' pictures. These origins can observe the visits. */
  @OriginsVariable() AVATAR_ORIGINS = '';

  /** Issuer (RFC 9207), {base_url} in the documentation. */
  @OriginVariable() BASE_URL: string;

  /** Origin of the API, {api_url} in the documentation. Clients may request it as a resource (RFC 8707). */
  @OriginVariable({ optional: true }) API_URL = '';

  /** Origins of other APIs that accept access tokens, comma-separated. */
  @OriginsVariable() OTHER_API_URLS = '';

  SCOPES_FILE = DEFAULT_SCOPES_FILE;
  @DatabaseUrlVariable() DATABASE_URL: string;
  @SchemaVariable() DATABASE_SCHEMA = DEFAULT_SCHEMA;
  @RedisUrlVariable() REDIS_URL: string;

  @KeysVariable() TOKEN_KEYS: string;

  /** Public keys, which verify ID tokens in `id_token_hint`. An empty value disables OpenID Connect for clients. */
  @ParsedVariable((text) => SigningKeys.parse(text), ID_TOKEN_KEYS_RULE) ID_TOKEN_KEYS = '';

  /** If true, every client must push authorization requests (RFC 9126 5). If false, the client's setting decides. */
  @ChoiceVariable('true', 'false') REQUIRE_PAR = 'false';

  /** Hosts whose metadata documents register clients at first use (draft-ietf-oauth-client-id-metadata-document). */
  @MetadataHostsVariable() CLIENT_METADATA_HOSTS = '';

  /** Hosts, IP addresses and ranges outside the public internet that may serve metadata documents, comma-separated. */
  @OutsideHostsVariable() OUTSIDE_FETCH_ALLOW = '';
  @NumberVariable(1, 600) CODE_LIFETIME = DEFAULT_LIFETIMES.code;

  /** Retention of grant records. Must equal REFRESH_TOKEN_LIFETIME of the token app. */
  @NumberVariable(1, 366 * 24 * 60 * 60) REFRESH_TOKEN_LIFETIME = DEFAULT_LIFETIMES.refreshToken;
  @NumberVariable(0, 300) CLOCK_SKEW = DEFAULT_LIFETIMES.clockSkew;
  @NumberVariable(60, 30 * 24 * 60 * 60) SESSION_IDLE_LIFETIME = 12 * 60 * 60;

  /** Absolute timeout of a session, which also limits the use of a stolen cookie. */
  @NumberVariable(60, 366 * 24 * 60 * 60) SESSION_LIFETIME = 30 * 24 * 60 * 60;

  /** Issuer of the OpenID provider that logs users in; empty without a provider. */
  @IssuerVariable() LOGIN_ISSUER = '';
  @TogetherWith('LOGIN_ISSUER') LOGIN_CLIENT_ID = '';
  @TogetherWith('LOGIN_ISSUER') LOGIN_CLIENT_SECRET = '';
  @ScopeVariable('openid') LOGIN_SCOPE = 'openid profile email';

  /** Claims that replace the standard claims of a user's fields: `field=claim`, comma-separated. */
  @ClaimsVariable() LOGIN_CLAIMS = '';

  /** URL of the product's login page, which returns users with a signed JWT. The origin is the issuer of the JWT. */
  @UrlVariable()
  @NotWith('LOGIN_ISSUER')
  @WithOneOf('LOGIN_PUBLIC_KEY', 'LOGIN_JWKS_URL')
  LOGIN_URL = '';

  @PublicKeysVariable()
  @OnlyWith('LOGIN_URL')
  LOGIN_PUBLIC_KEY = '';

  @UrlVariable()
  @OnlyWith('LOGIN_URL')
  LOGIN_JWKS_URL = '';

  /** Links the first external login of a user to the account with the same verified e-mail address. */
  @ChoiceVariable('true', 'false') LOGIN_LINK_BY_EMAIL = 'false';

  #scopes?: ConfigurationFile<ScopeCatalogue>;
  #brand?: Brand;

  /** SCOPES_FILE, which is read once. @throws ConfigurationError listing every problem */
  get scopes(): ConfigurationFile<ScopeCatalogue> {
    return (this.#scopes ??= readConfigurationFile(scopeFile(this)));
  }

  /** The logo files are read once. @throws ConfigurationError listing every problem */
  get brand(): Brand {
    return (this.#brand ??= readBrand(this));
  }

  override get publicUrl(): string {
    return this.AUTH_URL;
  }

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
      'CLIENT_METADATA_HOSTS',
      'CODE_LIFETIME',
      'REFRESH_TOKEN_LIFETIME',
      'CLOCK_SKEW',
      'LOGIN_ISSUER',
      'LOGIN_URL',
      'LOGIN_LINK_BY_EMAIL',
    ]);
  }

  get signingKeys(): SigningKeys {
    return SigningKeys.parse(this.ID_TOKEN_KEYS);
  }

  get apis(): string[] {
    return [this.API_URL, ...listOf(this.OTHER_API_URLS)].filter((origin) => origin !== '');
  }

  get loginIssuer(): string {
    return this.LOGIN_URL === '' ? this.LOGIN_ISSUER : new URL(this.LOGIN_URL).origin;
  }

  get avatarOrigins(): string[] {
    return listOf(this.AVATAR_ORIGINS);
  }
}
