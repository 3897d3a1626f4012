import { DEFAULT_CLOCK_SKEW, DEFAULT_PROOF_LIFETIME } from '#oauth/dpop/dpop-verifier.js';
import { DEFAULT_SCOPES_FILE, readScopeFile } from '#scopes/scope-file.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ConfigurationFile } from '#platform/configuration/configuration-files.module.js';
import { ServiceConfiguration, settingsOf } from '#platform/configuration/service.configuration.js';
import { IsDisplayName, IsWholeNumber, IsOrigin } from '#platform/configuration/variables.js';
import type { Settings } from '#platform/status/status-report.js';

export class ResourceConfiguration extends ServiceConfiguration {
  override PORT = 3003;
  override INTERNAL_PORT = 9003;
  /** Issuer (`authorization_servers`, RFC 9728 2), {base_url} in the documentation. */
  @IsOrigin() BASE_URL: string;
  /** Origin of this app, {api_url} in the documentation. */
  @IsOrigin() API_URL: string;
  /** Name in `resource_name` (RFC 9728 2). */
  @IsDisplayName() PRODUCT_NAME = 'Scheduling';
  SCOPES_FILE = DEFAULT_SCOPES_FILE;
  /** Maximum age of a DPoP proof, in seconds (RFC 9449 11.1). */
  @IsWholeNumber(1, 3600) DPOP_PROOF_LIFETIME = DEFAULT_PROOF_LIFETIME;
  /** Seconds by which the `iat` of a proof may be in the future. A value outside 10 to 60 counts as 10 or 60. */
  @IsWholeNumber(0, 300) CLOCK_SKEW = DEFAULT_CLOCK_SKEW;

  #scopes?: ConfigurationFile<ScopeCatalogue>;

  /** SCOPES_FILE, which is read once. @throws ConfigurationError listing every problem */
  get scopes(): ConfigurationFile<ScopeCatalogue> {
    return (this.#scopes ??= readScopeFile(this));
  }

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
