import { migrate } from '#database/connection/migrate.js';
import type { Client } from 'pg';
import { withDatabase, withDatabaseName } from './admin-client.js';
import type { TestServices } from './test-services.js';

/** The name of a database with every migration applied; made by the first of a run's workers that asks. */
export async function templateDatabase(services: TestServices): Promise<string> {
  const name = templateName(services);
  await withDatabase(services.databaseUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return;
    // Named at the end, so that a half migrated one is never copied.
    const draft = `${name}_draft`;
    await createDatabase(admin, draft);
    await migrate(withDatabaseName(services.databaseUrl, draft));
    await admin.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
  });
  return name;
}

function templateName({ run }: TestServices): string {
  return `oauth_template_${run}`;
}

async function createDatabase(admin: Client, name: string): Promise<void> {
  const { rows } = await admin.query<{ allowed: boolean }>(
    'SELECT rolcreatedb OR rolsuper AS allowed FROM pg_roles WHERE rolname = current_user',
  );
  if (!rows[0]?.allowed) {
    throw new Error(
      'the role of DATABASE_URL may not create databases, and every test suite needs one of its own: ' +
        'ALTER ROLE … CREATEDB, or unset DATABASE_URL so that a private server is started',
    );
  }
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
}
