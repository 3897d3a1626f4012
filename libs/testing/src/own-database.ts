import { randomBytes } from 'node:crypto';
import { withDatabase, withDatabaseName } from './admin-client.js';
import { templateDatabase } from './template-database.js';
import type { TestServices } from './test-services.js';

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
  return copyOf('template0', services);
}

async function copyOf(template: string, services: TestServices): Promise<OwnDatabase> {
  const name = `oauth_test_${services.run}_${randomBytes(6).toString('hex')}`;
  await withDatabase(services.databaseUrl, (admin) =>
    admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
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
