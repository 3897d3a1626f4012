import { DEFAULT_CLOCK_SKEW, DEFAULT_PROOF_LIFETIME } from '#oauth/dpop/dpop-verifier.js';
import { ScopesConfiguration } from '#scopes/scope-file.js';
import { settingsOf } from '#platform/configuration/service.configuration.js';
import { IsDisplayName, IsWholeNumber, IsOrigin } from '#platform/configuration/variables.js';
import type { Settings } from '#platform/status/status-report.js';

export class ResourceConfiguration extends ScopesConfiguration {
  override PORT = 3003;
  override INTERNAL_PORT = 9003;
  /** Issuer (`authorization_servers`, RFC 9728 2), {base_url} in the documentation. */
  @IsOrigin() BASE_URL: string;
  /** Origin of this app, {api_url} in the documentation. */
  @IsOrigin() API_URL: string;
  /** Name in `resource_name` (RFC 9728 2). */
  @IsDisplayName() PRODUCT_NAME = 'Scheduling';
  /** Maximum age of a DPoP proof, in seconds (RFC 9449 11.1). */
  @IsWholeNumber(1, 3600) DPOP_PROOF_LIFETIME = DEFAULT_PROOF_LIFETIME;
  /** Seconds by which the `iat` of a proof may be in the future. A value outside 10 to 60 counts as 10 or 60. */
  @IsWholeNumber(0, 300) CLOCK_SKEW = DEFAULT_CLOCK_SKEW;

  override get publicUrl(): string {
    return this.API_URL;
  }

  get sharedSettings(): Settings {
    return settingsOf(this, [
      'NODE_ENV',
      'BASE_URL',
      'API_URL',
      'PRODUCT_NAME',
      'DPOP_PROOF_LIFETIME',
      'CLOCK_SKEW',
    ]);
  }
}
