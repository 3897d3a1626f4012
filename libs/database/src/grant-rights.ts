import { escapeIdentifier } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { mapFlags } from '#clients/client-flags.js';
import { MigrationRefusedError } from './migration-refused.error.js';
import {
  columnNames,
  DATABASE_PROCESSES,
  DATABASE_RIGHTS,
  type DatabaseProcess,
  type ProcessRights,
} from './roles.js';

/**
 * Returns the group role that has the rights of a process. The role by which the process logs in is a member.
 * Contains the schema, because roles are shared by all databases of a server.
 */
export const roleOf = (schema: string, process: DatabaseProcess): string => `${schema}_${process}`;

/**
 * Grants the roles of the processes exactly the declared rights, and creates the roles if they do not exist. Changes
 * only what differs in the policies, because a change waits for all statements on the table.
 * @throws MigrationRefusedError if a role is missing and cannot be created
 */
export async function grantRights(
  runner: QueryRunner,
  dataSource: DataSource,
  schema: string,
): Promise<void> {
  await createRoles(runner, schema);
  const roles = DATABASE_PROCESSES.map((process) => escapeIdentifier(roleOf(schema, process))).join(', ');
  const columnsOf = tableColumns(dataSource);
  const tables = [...columnsOf.keys()];
  const signatures = await runner.manager.query<{ name: string; signature: string }[]>(
    `SELECT proname AS name, oid::regprocedure AS signature FROM pg_proc
     WHERE pronamespace = current_schema()::regnamespace AND proname = ANY($1)`,
    [[...new Set(DATABASE_PROCESSES.flatMap((process) => DATABASE_RIGHTS[process].functions))]],
  );
  // Every role that writes users needs the expression of their index, also a role of the product.
  const functions = signatures
    .filter(({ name }) => name !== 'search_text')
    .map(({ signature }) => signature)
    .join(', ');
  await runner.query(`REVOKE ALL ON ${tables.join(', ')} FROM PUBLIC, ${roles}`);
  await runner.query(`REVOKE ALL ON FUNCTION ${functions} FROM PUBLIC, ${roles}`);
  await runner.query(`REVOKE ALL ON SCHEMA ${escapeIdentifier(schema)} FROM ${roles}`);
  await runner.query(`GRANT USAGE ON SCHEMA ${escapeIdentifier(schema)} TO ${roles}`);
  for (const process of DATABASE_PROCESSES) {
    const role = escapeIdentifier(roleOf(schema, process));
    for (const [table, rights] of grantsOf(DATABASE_RIGHTS[process], columnsOf))
      await runner.query(`GRANT ${rights.join(', ')} ON ${table} TO ${role}`);
    const own = signatures.filter(({ name }) => DATABASE_RIGHTS[process].functions.includes(name));
    await runner.query(
      `GRANT EXECUTE ON FUNCTION ${own.map(({ signature }) => signature).join(', ')} TO ${role}`,
    );
  }
  await createPolicies(runner, schema);
}

/** Columns by table, of all entities and of TypeORM's table of migrations. */
export function tableColumns({ entityMetadatas }: DataSource): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ...entityMetadatas.map(
      ({ tableName, columns }) => [tableName, columns.map(({ databaseName }) => databaseName)] as const,
    ),
    ['migrations', ['id', 'timestamp', 'name']],
  ]);
}

/** Privileges of a process by table, as in a GRANT statement. */
function grantsOf(
  { tables }: ProcessRights,
  columnsOf: ReadonlyMap<string, readonly string[]>,
): [table: string, privileges: string[]][] {
  return Object.entries(tables).map(([table, rights]) => {
    const all = columnsOf.get(table) ?? [];
    const privileges = (['select', 'insert', 'update'] as const).flatMap((right) => {
      const names = columnNames(rights[right], all).map(escapeIdentifier).join(', ');
      if (names === '') return [];
      // A privilege on the table covers all columns.
      return rights[right] === 'all' ? right.toUpperCase() : `${right.toUpperCase()} (${names})`;
    });
    return [table, rights.delete ? [...privileges, 'DELETE'] : privileges];
  });
}

async function createRoles({ manager }: QueryRunner, schema: string): Promise<void> {
  const names = DATABASE_PROCESSES.map((process) => roleOf(schema, process));
  const existing = await manager.query<{ rolname: string }[]>(
    'SELECT rolname FROM pg_roles WHERE rolname = ANY($1)',
    [names],
  );
  const missing = names.filter((name) => !existing.some(({ rolname }) => rolname === name));
  if (missing.length === 0) return;
  const [self] = await manager.query<{ mayCreate: boolean }[]>(
    'SELECT rolcreaterole OR rolsuper AS "mayCreate" FROM pg_roles WHERE rolname = current_user',
  );
  const statements = missing.map((name) => `CREATE ROLE ${escapeIdentifier(name)} NOLOGIN`);
  if (!self?.mayCreate) throw new MigrationRefusedError({ reason: 'roles_missing', statements });
  for (const statement of statements)
    // Another database's migration may create the role at the same time.
    await manager.query(
      `DO $$ BEGIN ${statement}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
    );
}

interface Policy {
  readonly table: string;
  readonly name: string;
  readonly command: string;
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly checked: string | null;
}

const DOCUMENT = '(document_due_at IS NOT NULL)';
// PostgreSQL returns conditions in a normal form, to which these are compared.
const DEVELOPER = '( SELECT current_developer() AS current_developer)';
const ownedIf = (isTesting: boolean) =>
  `(client_id = ANY (( SELECT owned_clients(${isTesting}) AS owned_clients)::text[]))`;
const OWNED = ownedIf(false);
const OWNED_IN_TESTING = ownedIf(true);
const INITIAL_FLAGS = Object.values(
  mapFlags((_, { name, initially }) => (initially ? name : `(NOT ${name})`)),
).join(' AND ');
const NEW_CLIENT =
  "((client_id ~ '^sc_'::text) AND (stage = 'testing'::text) AND (private_schemes = '{}'::text[])" +
  " AND (grant_type = 'authorization_code'::text) AND (document_due_at IS NULL) AND (disabled_at IS NULL)" +
  ' AND (deleted_at IS NULL) AND (id_token_alg IS NULL) AND (sector IS NULL)' +
  ' AND (NOT dpop_bound) AND (NOT keeps_refresh_token) AND (profile IS NULL)' +
  ` AND ${INITIAL_FLAGS} AND (${DEVELOPER} IS NOT NULL))`;
const OWN_REQUEST = `(((client_id IS NULL) AND (user_id = ${DEVELOPER})) OR ${OWNED})`;
const STATUS_OF_OWNERS = "(status = ANY (ARRAY['draft'::text, 'submitted'::text, 'withdrawn'::text]))";
const STREAM_VISIBLE = '(stream_id IN ( SELECT event_streams.id FROM event_streams))';
const REQUEST_VISIBLE = '(request_id IN ( SELECT client_requests.id FROM client_requests))';

type OwnedRows = readonly [command: string, using: string | null, checked: string | null];

/** Rows that the portal may read and write for the user of its transaction. */
const OWNED_ROWS: Readonly<Record<string, readonly OwnedRows[]>> = {
  clients: [
    ['SELECT', OWNED, null],
    ['INSERT', null, NEW_CLIENT],
    ['UPDATE', OWNED, OWNED],
  ],
  client_secrets: [['ALL', OWNED, OWNED]],
  client_logos: [
    ['SELECT', OWNED, null],
    ['INSERT', null, OWNED_IN_TESTING],
    ['UPDATE', OWNED_IN_TESTING, OWNED_IN_TESTING],
    ['DELETE', OWNED_IN_TESTING, null],
  ],
  client_owners: [['ALL', OWNED, OWNED]],
  client_testers: [['ALL', `(${OWNED} OR (user_id = ${DEVELOPER}))`, OWNED]],
  client_invitations: [['ALL', OWNED, `(${OWNED} AND (invited_by = ${DEVELOPER}))`]],
  client_requests: [
    ['SELECT', OWN_REQUEST, null],
    ['INSERT', null, `(${OWN_REQUEST} AND ${STATUS_OF_OWNERS})`],
    ['UPDATE', OWN_REQUEST, `(${OWN_REQUEST} AND ${STATUS_OF_OWNERS})`],
    // Operators answer submitted requests, so that only drafts can be deleted.
    ['DELETE', `(${OWN_REQUEST} AND (submitted_at IS NULL))`, null],
  ],
  client_request_messages: [['ALL', REQUEST_VISIBLE, `(${REQUEST_VISIBLE} AND (author = 'owner'::text))`]],
  client_history: [['SELECT', OWNED, null]],
  audit_counts: [['SELECT', OWNED, null]],
  refused_requests: [['SELECT', OWNED, null]],
  event_streams: [['SELECT', OWNED, null]],
  events: [['SELECT', STREAM_VISIBLE, null]],
};

function policiesOf(schema: string): Policy[] {
  const rolesOf = (isMember: (process: DatabaseProcess) => boolean) =>
    DATABASE_PROCESSES.filter(isMember)
      .map((process) => roleOf(schema, process))
      .sort();
  const writing = (kind: ProcessRights['writableRows']) =>
    rolesOf((process) => DATABASE_RIGHTS[process].writableRows === kind);
  const [all, documents, owned] = [writing('all'), writing('documents'), writing('owned')];
  const table = 'clients';
  return [
    { table, name: 'clients_all', command: 'ALL', roles: all, using: 'true', checked: 'true' },
    { table, name: 'clients_read', command: 'SELECT', roles: documents, using: 'true', checked: null },
    { table, name: 'clients_admit', command: 'INSERT', roles: documents, using: null, checked: DOCUMENT },
    // Any row may be locked, as by a new grant.
    { table, name: 'clients_refresh', command: 'UPDATE', roles: documents, using: 'true', checked: DOCUMENT },
    ...Object.keys(OWNED_ROWS)
      .filter((name) => name !== table)
      .map((name) => {
        const roles = rolesOf((process) => {
          const { tables, writableRows } = DATABASE_RIGHTS[process];
          return writableRows !== 'owned' && Object.hasOwn(tables, name);
        });
        return { table: name, name: `${name}_all`, command: 'ALL', roles, using: 'true', checked: 'true' };
      }),
    ...Object.entries(OWNED_ROWS).flatMap(([name, rows]) =>
      rows.map(([command, using, checked]) => {
        const policy = `${name}_owned_${command.toLowerCase()}`;
        return { table: name, name: policy, command, roles: owned, using, checked };
      }),
    ),
  ].filter(({ roles }) => roles.length > 0);
}

/**
 * Restricts authorize and token to clients that their metadata documents describe, and the portal to what its user
 * owns. The owner of the tables is not restricted.
 */
async function createPolicies(runner: QueryRunner, schema: string): Promise<void> {
  const tables = Object.keys(OWNED_ROWS);
  const existing = await runner.manager.query<Policy[]>(
    `SELECT tablename AS table, policyname AS name, cmd AS command, roles::text[] AS roles, qual AS using, with_check AS checked
     FROM pg_policies WHERE schemaname = current_schema() AND tablename = ANY($1) AND permissive = 'PERMISSIVE'`,
    [tables],
  );
  const text = ({ table, name, command, roles, using, checked }: Policy) =>
    JSON.stringify([table, name, command, roles.toSorted(), using, checked].flat()).replaceAll(
      /(?:\\n|\s)+/g,
      ' ',
    );
  const wanted = policiesOf(schema);
  const isWanted = new Set(wanted.map(text));
  const isKept = new Set(existing.filter((policy) => isWanted.has(text(policy))).map(text));
  for (const policy of existing)
    if (!isKept.has(text(policy)))
      await runner.query(`DROP POLICY ${escapeIdentifier(policy.name)} ON ${policy.table}`);
  for (const policy of wanted) {
    if (isKept.has(text(policy))) continue;
    const { table, name, command, roles, using, checked } = policy;
    await runner.query(
      `CREATE POLICY ${name} ON ${table} FOR ${command} TO ${roles.map(escapeIdentifier).join(', ')}` +
        (using === null ? '' : ` USING (${using})`) +
        (checked === null ? '' : ` WITH CHECK (${checked})`),
    );
  }
  const unrestricted = await runner.manager.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relname = ANY($1) AND NOT relrowsecurity`,
    [tables],
  );
  for (const { name } of unrestricted) await runner.query(`ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`);
}
