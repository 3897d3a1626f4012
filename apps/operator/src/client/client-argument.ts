import { identifyClient } from '#administration/client/client-lookup.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { warn } from '../command-line/output.js';
import { withStores } from '../connections/database.connection.js';
import type { DatabaseSettings } from '../settings/settings.js';

/** For help: the argument that names a client. */
export const CLIENT = 'its client_id, or its name if no other application has it';

const GENERATED_ID = /^sc_[a-z2-7]{24}$/;

export async function clientIdInTrail(settings: DatabaseSettings, idOrName: string): Promise<string> {
  if (GENERATED_ID.test(idOrName)) return idOrName;
  try {
    return await withStores(settings, ({ clients }) => identifyClient(clients, idOrName));
  } catch (error) {
    if (!(error instanceof DependencyUnavailableError)) throw error;
    warn('PostgreSQL (DATABASE_URL) does not answer: --client must be a client_id');
    return idOrName;
  }
}
