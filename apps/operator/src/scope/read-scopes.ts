import { parseScopes } from '#oauth/scope-file.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ConfigurationFile, readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { scopesFile } from '../settings/read-settings.js';

/**
 * Includes the scopes of OpenID Connect, which the services have if ID_TOKEN_KEYS is set.
 *
 * @param apiUrl API of scopes without `resource`
 * @param apis all API URLs of the services; null skips their check
 * @throws ConfigurationError that lists every problem
 */
export function readScopes(
  apiUrl = '',
  apis: readonly string[] | null = null,
): ConfigurationFile<ScopeCatalogue> {
  return readConfigurationFile('SCOPES_FILE', scopesFile(), (file) =>
    parseScopes(file, { apiUrl, apis, openid: true }),
  );
}
