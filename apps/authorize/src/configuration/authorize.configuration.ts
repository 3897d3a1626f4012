import {
  DEFAULT_SCHEMA,
  IsAddress,
  IsDatabaseUrl,
  IsDisplayName,
  IsIssuer,
  IsKeyRing,
  IsLink,
  IsOneOf,
  IsOrigin,
  IsOrigins,
  IsSchema,
  IsWholeNumber,
  listOf,
  MustBe,
} from '#platform/configuration/variables.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { IsIdTokenKeys } from '#keys/id-token-keys.variable.js';
import { ScopesConfiguration } from '#scopes/scope-file.js';
import { settingsOf } from '#platform/configuration/service.configuration.js';
import { NotWith, OnlyWith, TogetherWith, WithOneOf } from '#platform/configuration/variable-relations.js';
import { IsMetadataHosts } from '#clients/documents/metadata-hosts.js';
import { type Brand, readBrand } from '#ui/brand/brand.js';
import { IsOutsideHosts } from '#platform/http/outside-hosts.js';
import { IsRedisUrl } from '#platform/redis/redis-url.js';
import type { Settings } from '#platform/status/status-report.js';
import { type ClaimMapping, isProfileField, STANDARD_CLAIMS } from './profile-claims.js';
import { IsPublicKeys } from './product-keys.js';

/** Accepts scope tokens (RFC 6749 3.3). @param required token that must be among them */
function IsScope(required: string): PropertyDecorator {
  return MustBe(
    `scopes, separated by spaces, one of them ${required}`,
    (value) =>
      /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value) &&
      value.split(' ').includes(required),
  );
}

function IsClaimMapping(): PropertyDecorator {
  return MustBe(
    'field=claim, comma-separated, such as username=nickname,timeZone=zoneinfo; the fields are those of /v2/me and locale, and email needs a claim',
    (value) => readClaimMapping(value) !== null,
  );
}

/** Reads `field=claim,field=claim`. An empty claim disables the field. @returns null if invalid or without `email` */
export function readClaimMapping(text: string): ClaimMapping | null {
  const mapping: { -readonly [Field in keyof ClaimMapping]: string | undefined } = { ...STANDARD_CLAIMS };
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const [, field = '', claim = ''] = /^([^=]*)=(.*)$/.exec(part.trim()) ?? [];
    if (!isProfileField(field)) return null;
    if (claim === '') delete mapping[field];
    else mapping[field] = claim;
  }
  return mapping.email === undefined ? null : (mapping as ClaimMapping);
}

/** Environment variables of the authorize app. Lifetimes are in seconds. */
export class AuthorizeConfiguration extends ScopesConfiguration {
  override PORT = 3001;
  override INTERNAL_PORT = 9001;

  /** Origin of this app, {auth_url} in the documentation. An https origin makes cookies Secure and enables HSTS. */
  @IsOrigin() AUTH_URL: string;
  @IsDisplayName() PRODUCT_NAME = 'Scheduling';

  /** Path of an SVG or PNG file, relative to the working directory. Pages show the logo in place of the name. */
  LOGO_FILE = '';
  LOGO_DARK_FILE = '';

  /** Colour of buttons and links, as `#rgb` or `#rrggbb`. If empty, the default colour applies. */
  ACCENT_COLOR = '';
  /** Accent colour of the dark scheme. If empty, the colour is derived from ACCENT_COLOR, or the default. */
  ACCENT_COLOR_DARK = '';

  /** Every page links to this URL and to the three URLs below, unless they are empty. */
  @IsLink() PRODUCT_URL = '';
  @IsLink() PRIVACY_URL = '';
  @IsLink() TERMS_URL = '';
  @IsLink() HELP_URL = '';

  /** Origins from which pages load users' pictures. These origins can observe the visits. */
  @IsOrigins() AVATAR_ORIGINS = '';

  /** Issuer (RFC 9207), {base_url} in the documentation. */
  @IsOrigin() BASE_URL: string;

  /** Origin of the API, {api_url} in the documentation. Clients may request it as a resource (RFC 8707). */
  @IsOrigin({ optional: true }) API_URL = '';

  /** Origins of other APIs that accept access tokens, comma-separated. */
  @IsOrigins() OTHER_API_URLS = '';

  @IsDatabaseUrl() DATABASE_URL: string;
  @IsSchema() DATABASE_SCHEMA = DEFAULT_SCHEMA;
  @IsRedisUrl() REDIS_URL: string;

  @IsKeyRing() TOKEN_KEYS: string;

  /** Public keys, which verify ID tokens in `id_token_hint`. An empty value disables OpenID Connect for clients. */
  @IsIdTokenKeys() ID_TOKEN_KEYS = '';

  /** If true, every client must push authorization requests (RFC 9126 5). If false, the client's setting decides. */
  @IsOneOf('true', 'false') REQUIRE_PAR = 'false';

  /** Hosts whose metadata documents register clients at first use (draft-ietf-oauth-client-id-metadata-document). */
  @IsMetadataHosts() CLIENT_METADATA_HOSTS = '';

  /** Hosts, IP addresses and ranges outside the public internet that may serve metadata documents, comma-separated. */
  @IsOutsideHosts() OUTSIDE_FETCH_ALLOW = '';
  @IsWholeNumber(1, 600) CODE_LIFETIME = DEFAULT_LIFETIMES.code;

  /** Retention of grant records. Must equal REFRESH_TOKEN_LIFETIME of the token app. */
  @IsWholeNumber(1, 366 * 24 * 60 * 60) REFRESH_TOKEN_LIFETIME = DEFAULT_LIFETIMES.refreshToken;
  @IsWholeNumber(0, 300) CLOCK_SKEW = DEFAULT_LIFETIMES.clockSkew;
  @IsWholeNumber(60, 30 * 24 * 60 * 60) SESSION_IDLE_LIFETIME = 12 * 60 * 60;

  /** Absolute timeout of a session, which also limits the use of a stolen cookie. */
  @IsWholeNumber(60, 366 * 24 * 60 * 60) SESSION_LIFETIME = 30 * 24 * 60 * 60;

  /** Issuer of the OpenID provider that logs users in; empty without a provider. */
  @IsIssuer() LOGIN_ISSUER = '';
  @TogetherWith('LOGIN_ISSUER') LOGIN_CLIENT_ID = '';
  @TogetherWith('LOGIN_ISSUER') LOGIN_CLIENT_SECRET = '';
  @IsScope('openid') LOGIN_SCOPE = 'openid profile email';

  /** Claims that replace the standard claims of a user's fields: `field=claim`, comma-separated. */
  @IsClaimMapping() LOGIN_CLAIMS = '';

  /** URL of the product's login page, which returns users with a signed JWT. The origin is the issuer of the JWT. */
  @IsAddress()
  @NotWith('LOGIN_ISSUER')
  @WithOneOf('LOGIN_PUBLIC_KEY', 'LOGIN_JWKS_URL')
  LOGIN_URL = '';

  @IsPublicKeys()
  @OnlyWith('LOGIN_URL')
  LOGIN_PUBLIC_KEY = '';

  @IsAddress()
  @OnlyWith('LOGIN_URL')
  LOGIN_JWKS_URL = '';

  /** Links the first external login of a user to the account with the same verified e-mail address. */
  @IsOneOf('true', 'false') LOGIN_LINK_BY_EMAIL = 'false';

  #brand?: Brand;

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
