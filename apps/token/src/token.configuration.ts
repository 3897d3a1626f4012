import { settingsOf } from '#platform/configuration/service.configuration.js';
import { NotAmong, TogetherWith } from '#platform/configuration/variable-relations.js';
import {
  IsOneOf,
  IsDatabaseUrl,
  IsDisplayName,
  IsMailAddress,
  IsSmtpUrl,
  DEFAULT_SCHEMA,
  IsKeyRing,
  listOf,
  IsWholeNumber,
  IsOrigins,
  IsOrigin,
  IsSchema,
} from '#platform/configuration/variables.js';
import { IsMetadataHosts } from '#clients/documents/metadata-hosts.js';
import { IsOutsideHosts } from '#platform/http/outside-hosts.js';
import { IsRedisUrl } from '#platform/redis/redis-url.js';
import type { Settings } from '#platform/status/status-report.js';
import { DEFAULT_LIFETIMES, type Lifetimes } from '#grants/lifetimes.js';
import { ScopesConfiguration } from '#scopes/scope-file.js';
import { DEFAULT_PROOF_LIFETIME } from '#oauth/dpop/dpop-verifier.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { IsIdTokenKeys } from '#keys/id-token-keys.variable.js';

const YEAR = 366 * 24 * 60 * 60;

export class TokenConfiguration extends ScopesConfiguration {
  override PORT = 3002;
  override INTERNAL_PORT = 9002;
  /** {auth_url}: URL of the authorize app. */
  @IsOrigin() AUTH_URL: string;
  /** {base_url}: issuer, and URL of this app. */
  @IsOrigin() BASE_URL: string;
  /** {api_url}: origin of the API, which clients may request as a resource (RFC 8707). */
  @IsOrigin({ optional: true }) API_URL = '';
  /** Origins of other APIs that accept access tokens, comma-separated. */
  @IsOrigins() OTHER_API_URLS = '';
  /** Origin of the console; turns on `client_credentials` for its HTTP API (RFC 6749 4.4). Empty without a console. */
  @IsOrigin({ optional: true })
  @NotAmong('AUTH_URL', 'BASE_URL', 'API_URL', 'OTHER_API_URLS')
  CONSOLE_URL = '';
  @IsDatabaseUrl() DATABASE_URL: string;
  @IsSchema() DATABASE_SCHEMA = DEFAULT_SCHEMA;
  @IsRedisUrl() REDIS_URL: string;
  /** Must have the same value as in the authorize app; published in the metadata (RFC 9126 5). */
  @IsOneOf('true', 'false') REQUIRE_PAR = 'false';
  /**
   * Must have the same value as in the authorize app. If true, `oauth.user.upsert` can link accounts by email.
   */
  @IsOneOf('true', 'false') LOGIN_LINK_BY_EMAIL = 'false';
  @IsKeyRing() TOKEN_KEYS: string;
  /** Private keys of ID tokens (PKCS#8 PEM, JWK or JWK Set). An empty value disables OpenID Connect. */
  @IsIdTokenKeys(checkPrivate) ID_TOKEN_KEYS = '';
  /** All lifetimes are in seconds. */
  @IsWholeNumber(1, 600) CODE_LIFETIME = DEFAULT_LIFETIMES.code;
  /**
   * Seconds in which the browser must open a pushed request (RFC 9126 2.2), fewer than 600 (FAPI 2.0, section 5.3.2.2).
   */
  @IsWholeNumber(5, 599) PAR_LIFETIME = 300;
  @IsWholeNumber(1, YEAR) ACCESS_TOKEN_LIFETIME = DEFAULT_LIFETIMES.accessToken;
  @IsWholeNumber(1, YEAR) REFRESH_TOKEN_LIFETIME = DEFAULT_LIFETIMES.refreshToken;
  @IsWholeNumber(0, 3600) RETRY_WINDOW = DEFAULT_LIFETIMES.retryWindow;
  @IsWholeNumber(0, 300) CLOCK_SKEW = DEFAULT_LIFETIMES.clockSkew;
  /** Maximum age of a DPoP proof (RFC 9449 11.1). */
  @IsWholeNumber(1, 3600) DPOP_PROOF_LIFETIME = DEFAULT_PROOF_LIFETIME;
  /** `required`: DPoP proofs need a nonce of this server (RFC 9449 8), here and at APIs. `optional`: no nonces. */
  @IsOneOf('required', 'optional') DPOP_NONCE = 'optional';

  /**
   * Hosts whose metadata documents admit clients at their first use. Must have the same value as in the authorize app.
   */
  @IsMetadataHosts() CLIENT_METADATA_HOSTS = '';

  /** Host names, IP addresses and ranges outside the public internet that a client's URLs may name, comma-separated. */
  @IsOutsideHosts() OUTSIDE_FETCH_ALLOW = '';

  /** Name of the product in mails. */
  @IsDisplayName() PRODUCT_NAME = 'Scheduling';
  /** Origin of the portal, for the links in mails to owners; turns on these mails. Empty without a portal. */
  @IsOrigin({ optional: true })
  @NotAmong('AUTH_URL', 'BASE_URL', 'API_URL', 'OTHER_API_URLS', 'CONSOLE_URL')
  DEVELOPERS_URL = '';
  /** Server for mails. Without it, the product sends them (`oauth.mail.send`). */
  @IsSmtpUrl() @TogetherWith('MAIL_FROM') SMTP_URL = '';
  /** Address of the sender. Its mailbox receives replies. */
  @IsMailAddress() MAIL_FROM = '';
  /** Receives a daily list of the open requests of owners; empty for none. */
  @IsMailAddress() OPERATOR_MAIL = '';

  override get publicUrl(): string {
    return this.BASE_URL;
  }

  get sharedSettings(): Settings {
    return settingsOf(this, [
      'NODE_ENV',
      'AUTH_URL',
      'BASE_URL',
      'API_URL',
      'OTHER_API_URLS',
      'CONSOLE_URL',
      'PRODUCT_NAME',
      'DATABASE_SCHEMA',
      'REQUIRE_PAR',
      'CLIENT_METADATA_HOSTS',
      'CODE_LIFETIME',
      'PAR_LIFETIME',
      'ACCESS_TOKEN_LIFETIME',
      'REFRESH_TOKEN_LIFETIME',
      'RETRY_WINDOW',
      'CLOCK_SKEW',
      'DPOP_PROOF_LIFETIME',
      'DPOP_NONCE',
      'LOGIN_LINK_BY_EMAIL',
    ]);
  }

  get signingKeys(): SigningKeys {
    return SigningKeys.parse(this.ID_TOKEN_KEYS);
  }

  get apis(): string[] {
    return [this.API_URL, ...listOf(this.OTHER_API_URLS)].filter((origin) => origin !== '');
  }
}

function checkPrivate({ isEmpty, canSign }: SigningKeys): void {
  if (!isEmpty && !canSign) throw new Error('it contains a public key, and this app signs');
}

export function lifetimesOf(configuration: TokenConfiguration): Lifetimes {
  return {
    code: configuration.CODE_LIFETIME,
    accessToken: configuration.ACCESS_TOKEN_LIFETIME,
    refreshToken: configuration.REFRESH_TOKEN_LIFETIME,
    retryWindow: configuration.RETRY_WINDOW,
    clockSkew: configuration.CLOCK_SKEW,
  };
}
