import { Client } from 'pg';
import { migrate } from '#database/migrate.js';
import { createRoles } from './process-credentials.js';
import { type TestServices, testServices } from './test-services.js';
import { randomBytes } from 'node:crypto';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';

export async function withDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs `work` when no other suite of this test run executes work of the same name. */
export function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  return withDatabase(testServices().databaseUrl, async (admin) => {
    await lock(admin, name);
    return work();
  });
}

/** PostgreSQL releases the lock when the connection ends, however this process ends. */
async function lock(admin: Client, name: string): Promise<void> {
  await admin.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
}

function withDatabaseName(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Returns the migrated template database, which the first call of a test run creates. */
async function templateDatabase(services: TestServices): Promise<string> {
  const name = templateName(services);
  await withDatabase(services.databaseUrl, async (admin) => {
    await lock(admin, name);
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return;
    // A draft is renamed at the end, so that a partially migrated database is never copied.
    const draft = `${name}_draft`;
    await createDatabase(admin, draft);
    await migrate(withDatabaseName(services.databaseUrl, draft));
    await createRoles(admin, services);
    await admin.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
  });
  return name;
}

function templateName({ run }: TestServices): string {
  return `oauth_template_${run}`;
}

async function createDatabase(admin: Client, name: string): Promise<void> {
  const { rows } = await admin.query<{ allowed: boolean }>(
    'SELECT rolcreatedb AND rolcreaterole OR rolsuper AS allowed FROM pg_roles WHERE rolname = current_user',
  );
  if (!rows[0]?.allowed) {
    throw new Error(
      'the role of DATABASE_URL may not create databases and roles, and every test suite needs its own: ' +
        'ALTER ROLE … CREATEDB CREATEROLE, or unset DATABASE_URL so that a private server is started',
    );
  }
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
}

const EMPTY = 'template0';

interface OwnDatabase {
  url: string;
  drop(): Promise<void>;
}

let migrated: Promise<string> | undefined;

export async function ownDatabase(services: TestServices): Promise<OwnDatabase> {
  migrated ??= templateDatabase(services);
  return copyOf(await migrated, services);
}

export function emptyDatabase(services: TestServices): Promise<OwnDatabase> {
  return copyOf(EMPTY, services);
}

/** Copies files, which takes a tenth of the CPU time of the default of PostgreSQL 15. Older versions always copy files. */
async function copyStrategy(admin: Client): Promise<string> {
  const { rows } = await admin.query<{ server_version_num: string }>('SHOW server_version_num');
  return Number(rows[0]?.server_version_num) >= 150_000 ? 'STRATEGY file_copy' : '';
}

async function copyOf(template: string, services: TestServices): Promise<OwnDatabase> {
  const name = `oauth_test_${services.run}_${randomBytes(6).toString('hex')}`;
  await withDatabase(services.databaseUrl, async (admin) => {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${await copyStrategy(admin)}`);
    // For queries of tests. The apps set the schema themselves.
    const schema = template === EMPTY ? 'public' : DEFAULT_SCHEMA;
    await admin.query(`ALTER DATABASE ${name} SET search_path = ${schema}`);
  });
  return {
    url: withDatabaseName(services.databaseUrl, name),
    async drop() {
      await withDatabase(services.databaseUrl, (admin) =>
        admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}
