import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { databaseDataSource } from '#database/data-source.js';
import { migrate } from '#database/migrate.js';
import { rightsDifference } from '#database/rights-inspection.js';
import { DATABASE_PROCESSES, type DatabaseProcess } from '#database/roles.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { withCredentials } from '#test/support/process-credentials.js';

const ID = 'A'.repeat(43);

/** Statements, and the processes that may execute them. */
const ATTEMPTS: readonly (readonly [string, string, readonly DatabaseProcess[]])[] = [
  [
    'register a client',
    `INSERT INTO clients (client_id, name, type, redirect_uris) VALUES ('sc_evil', 'Evil', 'public', '{https://evil.example/}')`,
    ['console', 'operator'],
  ],
  [
    'register a client with every scope and without consent',
    `INSERT INTO clients (client_id, name, type, redirect_uris, first_party)
     VALUES ('sc_evil', 'Evil', 'public', '{https://evil.example/}', true)`,
    ['console', 'operator'],
  ],
  [
    'change where a registered client sends users',
    `UPDATE clients SET redirect_uris = '{https://evil.example/}'`,
    ['console', 'operator'],
  ],
  ['enable a disabled client', 'UPDATE clients SET disabled_at = NULL', ['console', 'operator']],
  ['widen the scopes of a client', `UPDATE clients SET scopes = '{admin:write}'`, ['console', 'operator']],
  ['delete clients', 'DELETE FROM clients', []],
  ['read the hashes of client secrets', 'SELECT hash FROM client_secrets', ['token', 'operator']],
  [
    'add a client secret',
    `INSERT INTO client_secrets (client_id, hash) SELECT client_id, sha256('') FROM clients`,
    ['console', 'operator'],
  ],
  ['revive a client secret', 'UPDATE client_secrets SET revoked_at = NULL', ['console', 'operator']],
  ['replace a client secret', `UPDATE client_secrets SET hash = sha256('')`, []],
  ['replace a logo', `UPDATE client_logos SET image = ''`, ['console', 'operator']],
  ['read password hashes', 'SELECT password_hash FROM users', ['authorize', 'operator']],
  [
    'find users by their password hash',
    `SELECT id FROM users WHERE password_hash = 'x'`,
    ['authorize', 'operator'],
  ],
  ['set a password', `UPDATE users SET password_hash = NULL`, ['authorize', 'console', 'operator']],
  [
    'create a user with a password',
    `INSERT INTO users (username, email, name, password_hash) VALUES ('eve', 'eve@example.com', 'Eve', '$argon2id$x')`,
    ['console', 'operator'],
  ],
  ['make a user an admin of the console', `UPDATE users SET console_role = 'admin'`, ['console', 'operator']],
  ['enable a disabled user', 'UPDATE users SET operator_disabled_at = NULL', ['console', 'operator']],
  ['delete users', 'DELETE FROM users WHERE false', ['token', 'console', 'operator']],
  ['read the roles of the console', 'SELECT console_role FROM users', ['token', 'console', 'operator']],
  [
    'invite an admin',
    `INSERT INTO console_invitations (email, role, invited_by, expires_at) VALUES ('e@example.com', 'admin', 'e', now())`,
    ['console', 'operator'],
  ],
  ['read invitations', 'SELECT role FROM console_invitations', ['console', 'operator']],
  [
    'record a grant',
    `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
     SELECT '${ID}', u.id, client_id, 'x', 'x', now(), '1 day' FROM users u, clients`,
    ['authorize'],
  ],
  ['give a grant more scopes', `UPDATE grants SET scope = 'admin:write'`, []],
  ['move a grant to another user', 'UPDATE grants SET user_id = 1', []],
  ['delete grants', 'DELETE FROM grants', ['authorize']],
  ['hide a revocation from Redis', 'UPDATE grants SET revocation_applied_at = now()', ['token']],
  [
    'register an API that introspects tokens',
    `INSERT INTO resource_servers (id, name, secret_hash) VALUES ('rs_${'a'.repeat(24)}', 'x', sha256(''))`,
    ['console', 'operator'],
  ],
  ['read the hashes of API secrets', 'SELECT secret_hash FROM resource_servers', ['token']],
  ['let a removed token key be trusted', 'DELETE FROM token_keys', []],
  ['forget deletions of users', 'DELETE FROM deleted_identities', ['token', 'console', 'operator']],
  ['read the index of the audit trail', 'SELECT filter FROM audit_chunks', ['console', 'operator']],
  ['remove events from the index of the audit trail', 'DELETE FROM audit_chunks', ['console']],
  ['read the header of a receiver', 'SELECT authorization_header FROM event_streams', ['token']],
  [
    'send events to another receiver',
    `UPDATE event_streams SET endpoint_url = 'https://evil.example/'`,
    ['token', 'console', 'operator'],
  ],
  [
    'invent an event about a user',
    `INSERT INTO events (stream_id, type, user_id, txn) SELECT id, 'account-purged', 1, id FROM event_streams`,
    ['token'],
  ],
  ['delete events', 'DELETE FROM events', ['token']],
  ['read usage figures', 'SELECT live_grants FROM usage_days', ['console']],
  ['pretend that a migration was applied', `INSERT INTO migrations (timestamp, name) VALUES (1, 'x')`, []],
  ['add a column', 'ALTER TABLE clients ADD COLUMN more text', []],
  ['lift the limits on rows', 'ALTER TABLE clients DISABLE ROW LEVEL SECURITY', []],
  ['disable a trigger', 'ALTER TABLE users DISABLE TRIGGER users_end_grants_first', []],
  ['skip triggers', `SET session_replication_role = 'replica'`, []],
  ['empty a table', 'TRUNCATE grants', []],
  ['drop a table', 'DROP TABLE grants', []],
  ['create a table', 'CREATE TABLE more (id integer)', []],
  ['create a function', `CREATE FUNCTION search_text(text) RETURNS text LANGUAGE sql AS 'SELECT $1'`, []],
  ['own a table', 'ALTER TABLE users OWNER TO CURRENT_USER', []],
  ['become another process', 'SET ROLE oauth_operator', ['operator']],
  ['create a role', 'CREATE ROLE more', []],
  ['read the passwords of roles', 'SELECT rolpassword FROM pg_authid', []],
  ['read files of the server', `SELECT pg_read_file('postgresql.conf')`, []],
  ['run a program on the server', `COPY users (id) TO PROGRAM 'cat'`, []],
  ['reload the configuration of the server', 'SELECT pg_reload_conf()', []],
];

describe('the role of each process', () => {
  let services: Isolated;
  let clients: Readonly<Record<DatabaseProcess, Client>>;

  beforeAll(async () => {
    services = await isolate();
    const fixture = await openFixture(services, 'A'.repeat(43));
    await fixture.client();
    await fixture.user();
    await fixture.close();
    const opened = await Promise.all(
      DATABASE_PROCESSES.map(async (process) => [process, await connect(process)] as const),
    );
    clients = Object.fromEntries(opened) as typeof clients;
  });
  afterAll(async () => {
    await Promise.all(Object.values(clients).map((client) => client.end()));
    await services.close();
  });

  const urlOf = (process: DatabaseProcess) =>
    withCredentials(process, { DATABASE_URL: services.databaseUrl }).DATABASE_URL;

  async function connect(process: DatabaseProcess): Promise<Client> {
    const client = new Client({
      connectionString: urlOf(process),
      options: '-c search_path=oauth',
    });
    await client.connect();
    return client;
  }

  /**
   * Any error but `insufficient_privilege` means that the process has the right. Row-level security hides all rows from
   * the portal without the grant of a user.
   */
  async function may(process: DatabaseProcess, statement: string): Promise<boolean> {
    const client = clients[process];
    await client.query('BEGIN');
    try {
      const { rowCount } = await client.query(statement);
      return process !== 'developers' || rowCount !== 0;
    } catch (error) {
      return (error as { code?: string }).code !== '42501';
    } finally {
      await client.query('ROLLBACK');
    }
  }

  it.each(ATTEMPTS)('may %s only if the process does so', async (_, statement, allowed) => {
    const found = [];
    for (const process of DATABASE_PROCESSES) if (await may(process, statement)) found.push(process);
    expect(found).toEqual(allowed);
  });

  it('revives a revoked grant in no process', async () => {
    const owner = new Client({ connectionString: services.databaseUrl, options: '-c search_path=oauth' });
    await owner.connect();
    await owner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime, revoked_at)
       SELECT '${ID}', u.id, client_id, 'x', 'x', now() + interval '1 day', '1 day', now() FROM users u, clients LIMIT 1`,
    );
    await owner.end();
    const found = [];
    for (const process of DATABASE_PROCESSES)
      if (await may(process, 'UPDATE grants SET revoked_at = NULL')) found.push(process);
    expect(found).toEqual([]);
  });

  it('admits and refreshes a client only with a metadata document at its id, as authorize and token do', async () => {
    const insert = (id: string, more = '') =>
      `INSERT INTO clients (client_id, name, type, redirect_uris, document_due_at, document_changed_at${more && ', first_party'})
       VALUES ('${id}', 'Evil', 'public', '{https://evil.example/}', now(), now()${more})`;
    for (const process of ['authorize', 'token'] as const) {
      const client = clients[process];
      await expect(client.query(insert('sc_evil'))).rejects.toThrow('clients_document_check');
      await expect(client.query(insert('https://evil.example/', ', true'))).rejects.toThrow(
        'clients_document_check',
      );
      const url = `https://${process}.example/client`;
      await client.query(insert(url));
      const { rowCount } = await client.query(`UPDATE clients SET name = 'New' WHERE client_id = '${url}'`);
      expect(rowCount).toBe(1);
      await expect(
        client.query(
          `UPDATE clients SET document_due_at = NULL, document_changed_at = NULL WHERE client_id = '${url}'`,
        ),
      ).rejects.toThrow('row-level security');
    }
  });

  describe('compared with the declaration', () => {
    let owner: DataSource;
    const opened: DataSource[] = [];
    const differenceOf = async (process: DatabaseProcess) => {
      const source = await databaseDataSource(urlOf(process)).initialize();
      opened.push(source);
      return rightsDifference(source, process);
    };
    beforeAll(async () => void (owner = await databaseDataSource(services.databaseUrl).initialize()));
    afterEach(() => Promise.all(opened.splice(0).map((source) => source.destroy())));
    afterAll(() => owner.destroy());

    it.each(DATABASE_PROCESSES)('has every right of %s, and no other', async (process) => {
      expect(await differenceOf(process)).toMatchObject({ extra: [], missing: [] });
    });

    it('is restored by the next migration after rights were added and removed', async () => {
      await owner.query('GRANT SELECT ON users TO oauth_token');
      await owner.query('GRANT UPDATE (redirect_uris), DELETE ON clients TO oauth_token');
      await owner.query('GRANT CREATE ON SCHEMA oauth TO oauth_token');
      await owner.query('GRANT EXECUTE ON FUNCTION revoke_oldest_grants TO PUBLIC');
      await owner.query('REVOKE UPDATE (revoked_at) ON grants FROM oauth_token');
      await owner.query('ALTER POLICY clients_admit ON clients WITH CHECK (true)');
      expect(await differenceOf('token')).toMatchObject({
        extra: [
          'CREATE oauth',
          'DELETE clients',
          'EXECUTE revoke_oldest_grants',
          'SELECT users (password_hash)',
        ],
        missing: ['UPDATE grants (revoked_at)'],
      });
      await migrate(services.databaseUrl);
      expect(await differenceOf('token')).toMatchObject({ extra: [], missing: [] });
      const [, register = ''] = ATTEMPTS[0] ?? [];
      expect(await may('token', register)).toBe(false);
    });

    it('keeps its policies in a migration that changes nothing', async () => {
      const policies = () => owner.query('SELECT oid FROM pg_policy ORDER BY oid');
      const before: unknown = await policies();
      await migrate(services.databaseUrl);
      expect(await policies()).toEqual(before);
    });

    it('has an administrator differ in everything that only an administrator may do', async () => {
      const { extra, missing } = await rightsDifference(owner, 'operator');
      expect(missing).toEqual([]);
      expect(extra).toEqual(expect.arrayContaining(['TRUNCATE users', expect.stringMatching(/^SUPERUSER /)]));
    });
  });
});
