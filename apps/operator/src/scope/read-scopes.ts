import { parseScopes } from '#oauth/scope-file.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ConfigurationFile, readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { ConfigurationError } from '#platform/configuration/load-configuration.js';
import { scopesFile } from '../settings/read-settings.js';

/**
 * The scopes of the running services, if SCOPES_FILE names the same file here.
 *
 * @param apiUrl the API of the scopes that name none
 * @param apis every API of the services; null where they are unknown: authorize and token check them
 * @throws ConfigurationError that lists every problem
 */
export function readScopes(
  apiUrl = '',
  apis: readonly string[] | null = null,
): ConfigurationFile<ScopeCatalogue> {
  return readConfigurationFile('SCOPES_FILE', scopesFile(), (file) => parseScopes(file, { apiUrl, apis }));
}

/** Reads the scopes; null where this machine has no valid file. */
export function readableScopes(apiUrl = ''): ScopeCatalogue | null {
  try {
    return readScopes(apiUrl).value;
  } catch (error) {
    if (error instanceof ConfigurationError) return null;
    throw error;
  }
}
