import type { MigrationInterface, QueryRunner } from 'typeorm';
import { AUDIT_INDEX } from './audit-index.js';
import { CLIENTS } from './clients.js';
import { EVENTS } from './events.js';
import { GRANTS } from './grants.js';
import { MAILS } from './mails.js';
import { OWNERS } from './owners.js';
import { USERS } from './users.js';

const STATEMENTS = [...CLIENTS, ...USERS, ...GRANTS, ...AUDIT_INDEX, ...EVENTS, ...OWNERS, ...MAILS];

/** Creates the tables, and the triggers and functions that keep users, clients and grants consistent. */
export class CreateSchema1795219200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Functions run with this search path (FROM CURRENT), so that no temporary table hides one of their tables.
    await runner.query(
      `SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`,
    );
    for (const statement of STATEMENTS) await runner.query(statement);
    await createSearchIndexes(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const kind of ['TABLE', 'FUNCTION']) {
      const created = STATEMENTS.flatMap(
        (text) => new RegExp(`^CREATE ${kind} (\\w+)`).exec(text)?.[1] ?? [],
      );
      await runner.query(`DROP ${kind} ${created.join(', ')} CASCADE`);
    }
  }
}

/**
 * Without the extension pg_trgm, which a role without the CREATE privilege on the database cannot install, a search
 * reads all rows.
 */
async function createSearchIndexes(runner: QueryRunner): Promise<void> {
  const trigrams = await trigramOperators(runner);
  if (trigrams === null) return;
  for (const [table, columns] of [
    ['clients', 'ARRAY[client_id, name] || redirect_uris || contacts'],
    ['users', 'ARRAY[username, email, name, external_id]'],
  ])
    await runner.query(
      `CREATE INDEX ${table}_search ON ${table} USING gin (search_text(${columns}) ${trigrams})`,
    );
}

/** Installs the extension if possible. @returns the operator class with its schema; null without the extension */
async function trigramOperators({ manager }: QueryRunner): Promise<string | null> {
  const [installable] = await manager.query<unknown[]>(
    `SELECT FROM pg_available_extensions WHERE name = 'pg_trgm' AND installed_version IS NULL
       AND has_database_privilege(current_database(), 'CREATE')`,
  );
  if (installable) await manager.query('CREATE EXTENSION pg_trgm');
  const [extension] = await manager.query<{ schema: string }[]>(
    `SELECT quote_ident(nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE extname = 'pg_trgm'`,
  );
  return extension ? `${extension.schema}.gin_trgm_ops` : null;
}
