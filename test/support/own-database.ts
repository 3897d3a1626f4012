import { randomBytes } from 'node:crypto';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';
import { withDatabase, withDatabaseName } from './admin-client.js';
import { templateDatabase } from './template-database.js';
import type { TestServices } from './test-services.js';

const EMPTY = 'template0';

interface OwnDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Creates a database from the run's migrated template. */
export async function ownDatabase(services: TestServices): Promise<OwnDatabase> {
  return copyOf(await templateDatabase(services), services);
}

/** Creates an empty database, without migrations. */
export function emptyDatabase(services: TestServices): Promise<OwnDatabase> {
  return copyOf(EMPTY, services);
}

async function copyOf(template: string, services: TestServices): Promise<OwnDatabase> {
  const name = `oauth_test_${services.run}_${randomBytes(6).toString('hex')}`;
  await withDatabase(services.databaseUrl, (admin) =>
    admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
  );
  await withDatabase(services.databaseUrl, (admin) =>
    // For the SQL of the tests; the apps select the schema themselves.
    admin.query(`ALTER DATABASE ${name} SET search_path = ${template === EMPTY ? 'public' : DEFAULT_SCHEMA}`),
  );
  return {
    url: withDatabaseName(services.databaseUrl, name),
    async drop() {
      await withDatabase(services.databaseUrl, (admin) =>
        admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}
