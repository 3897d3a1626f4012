import { parseScopes } from '#oauth/scope-file.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ConfigurationFile, readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { scopesFile } from '../settings/read-settings.js';

/**
 * The scopes of the running services, if SCOPES_FILE names the same file here. The origins of the APIs are not known here:
 * authorize and token check those.
 *
 * @throws ConfigurationError that lists every problem
 */
export function readScopes(): ConfigurationFile<ScopeCatalogue> {
  return readConfigurationFile('SCOPES_FILE', scopesFile(), (file) =>
    parseScopes(file, { apiUrl: '', apis: null }),
  );
}
