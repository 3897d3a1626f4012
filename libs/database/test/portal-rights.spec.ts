import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { withCredentials } from '#test/support/process-credentials.js';

const RIGHT = 'insufficient_privilege';

describe('the role of the portal', () => {
  let services: Isolated;
  /** Connection with the role of the portal. */
  let portal: Client;
  let owner: Client;
  /** `jti` of an event of another owner. */
  let foreignEvent: string;
  const ids = {
    own: 'sc_own',
    testing: 'sc_testing',
    foreign: 'sc_foreign',
    portal: 'sc_portal',
    document: 'https://own.example/client',
    api: 'sc_api',
  };
  const users: Record<'ada' | 'eve', number> = { ada: 0, eve: 0 };
  /** Handles of grants: of each user to the portal, and of Ada to another client. */
  const handles = {
    ada: randomBytes(16),
    eve: randomBytes(16),
    other: randomBytes(16),
    revoked: randomBytes(16),
  };

  beforeAll(async () => {
    services = await isolate();
    const fixture = await openFixture(services, 'A'.repeat(43));
    users.ada = await fixture.user();
    users.eve = await fixture.user('eve');
    await fixture.close();
    const connect = async (connectionString: string) => {
      const client = new Client({ connectionString, options: '-c search_path=oauth' });
      await client.connect();
      return client;
    };
    owner = await connect(services.databaseUrl);
    portal = await connect(
      withCredentials('developers', { DATABASE_URL: services.databaseUrl }).DATABASE_URL,
    );
    for (const [id, stage, isPortal] of [
      [ids.own, 'live', false],
      [ids.testing, 'testing', false],
      [ids.foreign, 'live', false],
      [ids.portal, 'live', true],
    ])
      await owner.query(
        `INSERT INTO clients (client_id, name, type, redirect_uris, stage, developer_portal, contacts)
         VALUES ($1, 'App', 'confidential', '{https://app.example.com/callback}', $2, $3, '{mailto:a@example.com}')`,
        [id, stage, isPortal],
      );
    await owner.query(
      `INSERT INTO clients (client_id, name, type, redirect_uris, document_due_at, document_changed_at)
       VALUES ($1, 'App', 'public', '{https://app.example.com/callback}', now(), now())`,
      [ids.document],
    );
    await owner.query(
      `INSERT INTO clients (client_id, name, type, redirect_uris, grant_type, scopes, jwks_uri)
       VALUES ($1, 'App', 'confidential', '{}', 'client_credentials', '{admin:write}', 'https://app.example.com/jwks')`,
      [ids.api],
    );
    await owner.query(
      `INSERT INTO client_secrets (client_id, hash) SELECT client_id, sha256(convert_to(client_id, 'UTF8')) FROM clients`,
    );
    await owner.query(
      `INSERT INTO client_owners (client_id, user_id) VALUES ($1, $4), ($2, $4), ($3, $5), ($6, $4), ($7, $4), ($8, $4)`,
      [ids.own, ids.testing, ids.foreign, users.eve, users.ada, ids.document, ids.portal, ids.api],
    );
    await owner.query(
      `INSERT INTO client_requests (client_id, user_id, kind, status, content, submitted_at)
       VALUES ($1, $2, 'registration', 'submitted', '{"name": "App"}', now()),
              ($3, $4, 'change', 'submitted', '{"name": "Secret plan"}', now())`,
      [ids.testing, users.eve, ids.foreign, users.ada],
    );
    await owner.query(
      `INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, expires_at)
       VALUES ($1, 'owner', sha256('a'), $2, now() + interval '1 day')`,
      [ids.foreign, users.ada],
    );
    await owner.query(
      `INSERT INTO audit_counts SELECT client_id, now(), 'request.refused', 'code_expired', 'invalid_grant', 1, now(), now(), 'a'
       FROM clients`,
    );
    await owner.query(
      `INSERT INTO refused_requests (client_id, event, at, cause, error, description, detail)
       SELECT client_id, 'token.1', now(), 'code_expired', 'invalid_grant', '', '{}' FROM clients`,
    );
    await owner.query(
      `INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested)
       SELECT client_id, 'push', 'https://app.example.com/events', '{}' FROM clients`,
    );
    const { rows: events } = await owner.query<{ jti: string; client: string }>(
      `INSERT INTO events (stream_id, type, txn, outcome, finished_at)
       SELECT id, 'verification', gen_random_uuid(), 'delivered', now() FROM event_streams
       RETURNING jti, (SELECT client_id FROM event_streams s WHERE s.id = stream_id) AS client`,
    );
    foreignEvent = events.find(({ client }) => client === ids.foreign)?.jti ?? '';
    const grant = async (handle: Buffer, user: number, client: string, revoked = false) =>
      owner.query(
        `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime, revoked_at)
         VALUES ($1, $2, $3, 'openid', 'openid', now() + interval '1 day', '1 day', $4)`,
        [createHash('sha256').update(handle).digest('base64url'), user, client, revoked ? new Date() : null],
      );
    await grant(handles.ada, users.ada, ids.portal);
    await grant(handles.eve, users.eve, ids.portal);
    await grant(handles.other, users.ada, ids.foreign);
    await grant(handles.revoked, users.ada, ids.portal, true);
  });
  afterAll(async () => {
    await Promise.all([portal.end(), owner.end()]);
    await services.close();
  });

  /** Returns the number of rows that a statement reads or writes, or the condition of its error. The statement is undone. */
  async function attempt(statement: string, handle?: Buffer): Promise<number | string> {
    await portal.query('BEGIN');
    try {
      if (handle)
        await portal.query(`SELECT set_config('oauth.developer', $1, true)`, [handle.toString('hex')]);
      // The last of several statements counts.
      const results = [await portal.query(statement)].flat();
      return results.at(-1)?.rowCount ?? 0;
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string };
      return code === '42501' ? RIGHT : `${code} ${message}`;
    } finally {
      await portal.query('ROLLBACK');
    }
  }

  const TABLES = [
    'clients',
    'client_secrets',
    'client_logos',
    'client_owners',
    'client_testers',
    'client_invitations',
    'client_requests',
    'client_request_messages',
    'client_history',
    'audit_counts',
    'refused_requests',
    'event_streams',
    'events',
  ];

  it.each([
    ['without a handle', undefined],
    ['with the id of a grant', () => createHash('sha256').update(handles.ada).digest().subarray(0, 16)],
    ['with the handle of a grant to another client', () => handles.other],
    ['with the handle of a revoked grant', () => handles.revoked],
    ['with an unknown handle', () => randomBytes(16)],
  ])('sees nothing %s', async (_, handle) => {
    for (const table of TABLES)
      expect([table, await attempt(`SELECT 1 FROM ${table}`, handle?.())]).toEqual([table, 0]);
    expect(await attempt('SELECT WHERE current_developer() IS NOT NULL', handle?.())).toBe(0);
  });

  it('sees what its user owns', async () => {
    const { rows } = await asEve('SELECT client_id FROM clients ORDER BY 1');
    expect(rows.map((row) => row.client_id)).toEqual([ids.document, ids.own, ids.testing]);
    expect(await attempt('SELECT id FROM client_secrets', handles.eve)).toBe(3);
    expect(await attempt('SELECT id FROM client_requests', handles.eve)).toBe(1);
    for (const table of ['audit_counts', 'refused_requests', 'event_streams', 'events'])
      expect([table, await attempt(`SELECT 1 FROM ${table}`, handles.eve)]).toEqual([table, 3]);
  });

  describe('an invitation of another owner', () => {
    const invitation = `SELECT name, kind, inviter FROM read_client_invitation('a')`;
    const invited = async () => (await asEve(invitation)).rows;

    it('shows its application, role and inviter to any user with the token, and nothing else', async () => {
      expect(await invited()).toEqual([{ name: 'App', kind: 'owner', inviter: 'Ada Lovelace' }]);
      expect(await attempt(`SELECT FROM clients WHERE client_id = '${ids.foreign}'`, handles.eve)).toBe(0);
    });

    it.each([
      ['without a user', () => attempt(invitation)],
      ['with the handle of a revoked grant', () => attempt(invitation, handles.revoked)],
      ['with another token', () => attempt(invitation.replace(`'a'`, `'b'`), handles.eve)],
    ])('is not found %s', async (_, found) => {
      expect(await found()).toBe(0);
    });

    it.each([
      ['has expired', 'UPDATE client_invitations SET expires_at = now()'],
      [
        'is of a disabled owner',
        `UPDATE grants SET revoked_at = now() WHERE user_id = (SELECT invited_by FROM client_invitations);
         UPDATE users SET operator_disabled_at = now() WHERE id = (SELECT invited_by FROM client_invitations)`,
      ],
      ['is of a former owner', `DELETE FROM client_owners WHERE client_id = '${ids.foreign}'`],
      [
        'is of a deleted application',
        `UPDATE clients SET deleted_at = now() WHERE client_id = '${ids.foreign}'`,
      ],
    ])('is not found when it %s', async (_, change) => {
      await owner.query('BEGIN');
      try {
        await owner.query(change);
        await owner.query(`SELECT set_config('oauth.developer', $1, true)`, [handles.eve.toString('hex')]);
        const developer = await owner.query('SELECT current_developer() AS id');
        expect(developer.rows).toEqual([{ id: users.eve }]);
        expect((await owner.query(invitation)).rows).toEqual([]);
      } finally {
        await owner.query('ROLLBACK');
      }
      expect(await invited()).toHaveLength(1);
    });
  });

  const planOf = async (statement: string): Promise<string> =>
    JSON.stringify((await portal.query(`EXPLAIN ${statement}`)).rows);

  it.each(TABLES)('finds the rows of its user in %s by an index', async (table) => {
    const parents: Record<string, string> = { client_request_messages: 'request_id', events: 'stream_id' };
    const parent = parents[table];
    const condition = parent === undefined ? '' : ` WHERE ${parent} = '00000000-0000-4000-8000-000000000000'`;
    await portal.query('SET enable_seqscan = off');
    expect(await planOf(`SELECT 1 FROM ${table}${condition}`)).not.toContain('Seq Scan');
    await portal.query('RESET enable_seqscan');
  });

  it('finds a reference among the refused requests of an application by an index', async () => {
    await owner.query(
      `INSERT INTO refused_requests (client_id, event, at, reference, cause, error, description, detail)
       SELECT CASE WHEN n % 10 = 0 THEN '${ids.own}' ELSE 'sc_other' || n END, 'many.' || n, now() - n * interval '1 minute', 'reference' || n, 'code_expired',
         'invalid_grant', '', '{}' FROM generate_series(1, 20000) n`,
    );
    await owner.query('ANALYZE refused_requests');
    const plan = await planOf(
      `SELECT id FROM refused_requests WHERE client_id = '${ids.own}' AND at >= now() - interval '30 days'
         AND reference = 'reference10' ORDER BY at DESC, id DESC LIMIT 26`,
    );
    expect(plan).toContain('refused_requests_reference');
    await owner.query(`DELETE FROM refused_requests WHERE event LIKE 'many.%'`);
  });

  async function asEve(statement: string) {
    await portal.query('BEGIN');
    await portal.query(`SELECT set_config('oauth.developer', $1, true)`, [handles.eve.toString('hex')]);
    const result = await portal.query<Record<string, unknown>>(statement);
    await portal.query('COMMIT');
    return result;
  }

  const request = (status: string) =>
    `INSERT INTO client_requests (client_id, user_id, kind, status, content, submitted_at)
     SELECT '${ids.foreign}', current_developer(), 'change', '${status}', '{}', now()`;
  const client = (columns: string, values: string) =>
    `INSERT INTO clients (client_id, name, type, redirect_uris, ${columns})
     VALUES ('sc_evil', 'Evil', 'confidential', '{https://evil.example/}', ${values})`;

  /** Statements of an owner with the handle of an own grant. Each must fail, or read and write no row. */
  it.each([
    // A live client
    ['registers a live client', client('stage', `'live'`)],
    ['registers a client without naming the stage', client('require_par', 'false')],
    ['registers a client of the product', client('stage, first_party', `'testing', true`)],
    ['registers another portal', client('stage, developer_portal', `'testing', true`)],
    ['registers an API client', client('stage, grant_type', `'testing', 'client_credentials'`)],
    ['registers a client with a private scheme', client('stage, private_schemes', `'testing', '{evil}'`)],
    ['registers a client with a metadata document', client('stage, document_due_at', `'testing', now()`)],
    [
      'registers a client with the sector of another',
      client('stage, sector', `'testing', 'app.example.com'`),
    ],
    [
      'registers the id of a metadata document',
      `INSERT INTO clients (client_id, name, type, redirect_uris, stage)
       VALUES ('https://app.example.com/client', 'Evil', 'public', '{https://evil.example/}', 'testing')`,
    ],
    [
      'changes an own client with a metadata document',
      `UPDATE clients SET redirect_uris = '{https://evil.example/}' WHERE document_due_at IS NOT NULL`,
    ],
    [
      'changes the keys of the portal or of an API client, even as its owner',
      `UPDATE clients SET jwks_uri = 'https://evil.example/jwks' WHERE client_id IN ('${ids.portal}', '${ids.api}')`,
    ],
    ['makes a client live', `UPDATE clients SET stage = 'live'`],
    ['makes an own client the portal', 'UPDATE clients SET developer_portal = true'],
    ['makes an own client the product’s', 'UPDATE clients SET first_party = true'],
    ['enables a disabled client', 'UPDATE clients SET disabled_at = NULL'],
    ['renames a client', `UPDATE clients SET client_id = 'sc_other'`],
    ['makes a confidential client public', `UPDATE clients SET type = 'public'`],
    ['shares the subjects of another client', `UPDATE clients SET sector = 'app.example.com'`],
    ['approves an own request', `UPDATE client_requests SET status = 'approved', decided_at = now()`],
    ['approves without a time', `UPDATE client_requests SET status = 'approved'`],
    ['inserts an approved request', request('approved')],
    // Reviewed columns of a live client
    ...[
      [`name = 'Scheduling'`, 'name'],
      [`client_uri = 'https://evil.example'`, 'website'],
      [`redirect_uris = '{https://evil.example/}'`, 'redirect URI'],
      [
        `redirect_uris = '{https://app.example.com.evil.example/callback}'`,
        'host with the old one as its beginning',
      ],
      [`redirect_uris = '{https://app.example.com@evil.example/callback}'`, 'user name like the old host'],
      [
        String.raw`redirect_uris = ARRAY['https://app.example.com\@evil.example/']`,
        'backslash after the old host',
      ],
      [`redirect_uris = '{http://app.example.com/callback}'`, 'redirect URI without TLS'],
      [`redirect_uris = '{https://app.example.com:8443/}'`, 'other port'],
      [`redirect_uris = '{com.evil:/callback}'`, 'redirect URI of a private scheme'],
      [`post_logout_redirect_uris = '{https://evil.example/}'`, 'post-logout redirect URI'],
      [`backchannel_logout_uri = 'https://evil.example/'`, 'logout receiver'],
      [`scopes = '{profile:read,bookings:write}'`, 'further scope'],
      [`scopes = '{bookings:write}'`, 'other scope'],
      [`device_grant = true`, 'device grant'],
      [`require_par = false`, 'rule of the protocol'],
    ].map(([change = '', what = '']) => [
      `gives a live client another ${what}`,
      `UPDATE clients SET ${change} WHERE client_id = '${ids.own}'`,
    ]),
    [
      'gives a live client a logo',
      `INSERT INTO client_logos (client_id, digest, media_type, image) VALUES ('${ids.own}', encode(sha256('x'), 'hex'), 'image/png', 'x')`,
    ],
    // Another owner's application
    ...TABLES.filter((table) => !['client_history', 'client_request_messages', 'events'].includes(table)).map(
      (table) => [
        `reads ${table} of another owner`,
        `SELECT 1 FROM ${table} WHERE client_id = '${ids.foreign}'`,
      ],
    ),
    [
      'reads messages of another owner',
      `SELECT 1 FROM client_request_messages m WHERE NOT EXISTS (SELECT FROM client_requests r WHERE r.id = m.request_id)`,
    ],
    ['reads the history of another owner', `SELECT 1 FROM client_history WHERE client_id = '${ids.foreign}'`],
    [
      'deletes the client of another owner',
      `UPDATE clients SET deleted_at = now() WHERE client_id = '${ids.foreign}'`,
    ],
    [
      'adds a secret of another owner',
      `INSERT INTO client_secrets (client_id, hash) VALUES ('${ids.foreign}', sha256(''))`,
    ],
    ['moves an own secret to another owner', `UPDATE client_secrets SET client_id = '${ids.foreign}'`],
    [
      'revokes secrets of another owner',
      `UPDATE client_secrets SET revoked_at = now() WHERE client_id = '${ids.foreign}'`,
    ],
    [
      'changes the keys of another owner',
      `UPDATE clients SET jwks = '{"keys": []}' WHERE client_id = '${ids.foreign}'`,
    ],
    [
      'changes the URL of the keys of another owner',
      `UPDATE clients SET jwks_uri = 'https://evil.example/jwks' WHERE client_id = '${ids.foreign}'`,
    ],
    [
      'changes the request of another owner',
      `UPDATE client_requests SET content = '{}' WHERE client_id = '${ids.foreign}'`,
    ],
    ['moves a request to another owner', `UPDATE client_requests SET client_id = '${ids.foreign}'`],
    ['requests a change for another owner', request('submitted')],
    [
      'requests in the name of another user',
      `INSERT INTO client_requests (user_id, kind, status, content) VALUES ($ada, 'registration', 'draft', '{}')`,
    ],
    [
      'becomes an owner',
      `INSERT INTO client_owners (client_id, user_id) SELECT '${ids.foreign}', current_developer()`,
    ],
    [
      'makes another user a tester',
      `INSERT INTO client_testers (client_id, user_id) VALUES ('${ids.testing}', $ada)`,
    ],
    [
      'invites for another owner',
      `INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, expires_at) SELECT '${ids.foreign}', 'owner', sha256('e'), current_developer(), now() + interval '1 day'`,
    ],
    [
      'invites in the name of another user',
      `INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, expires_at) VALUES ('${ids.own}', 'owner', sha256('e'), $ada, now() + interval '1 day')`,
    ],
    ['reads an invitation by its hash', `SELECT FROM read_client_invitation(sha256('a'))`],
    ['accepts an invitation by its hash', `SELECT FROM accept_client_invitation(sha256('a'))`],
    ['reads the team of another owner', `SELECT FROM client_team('${ids.foreign}')`],
    [
      'counts the users of another owner',
      `SELECT WHERE count_client_grants('${ids.foreign}', 10) IS NOT NULL`,
    ],
    ['ends grants of another owner', `SELECT WHERE end_client_grants('${ids.foreign}', 10) > 0`],
    [
      'ends grants of an own client that is not deleted',
      `SELECT WHERE end_client_grants('${ids.own}', 10) > 0`,
    ],
    [
      'speaks as the operator',
      `INSERT INTO client_request_messages (request_id, author, name, text) SELECT id, 'operator', 'Grace', 'approved' FROM client_requests`,
    ],
    ['writes history', `INSERT INTO client_history (client_id, action) VALUES ('${ids.own}', 'created')`],
    ['removes history', 'DELETE FROM client_history'],
    // Users' data and hashes
    ['reads users', 'SELECT id FROM users'],
    ['reads grants', 'SELECT id FROM grants'],
    ['revokes grants', 'UPDATE grants SET revoked_at = now()'],
    ['reads keys of pairwise subjects', 'SELECT key FROM subject_sectors'],
    ['reads hashes of own secrets', 'SELECT hash FROM client_secrets'],
    ['compares hashes of own secrets', `SELECT id FROM client_secrets WHERE hash = sha256('')`],
    [
      'returns the hash of a new secret',
      `INSERT INTO client_secrets (client_id, hash) VALUES ('${ids.own}', sha256('')) RETURNING hash`,
    ],
    ['reads hashes of invitations', 'SELECT token_hash FROM client_invitations'],
    ['reads hashes of APIs', 'SELECT secret_hash FROM resource_servers'],
    ['reads the index of the audit trail', 'SELECT filter FROM audit_chunks'],
    ['reads users in events of receivers', 'SELECT user_id FROM events'],
    ['reads contents of events of receivers', 'SELECT details FROM events'],
    ['reads headers of receivers', 'SELECT authorization_header FROM event_streams'],
    [
      'reads events of another owner',
      `SELECT 1 FROM events e WHERE NOT EXISTS (SELECT FROM event_streams s WHERE s.id = e.stream_id)`,
    ],
    [
      'sends an event of another owner again',
      `SELECT WHERE redeliver_client_event('${ids.foreign}', (SELECT jti FROM events LIMIT 1))`,
    ],
    [
      'sends an event of another owner again through an own application',
      `SELECT WHERE redeliver_client_event('${ids.own}', '$foreignEvent')`,
    ],
    ['ends a pause of another owner', `SELECT WHERE enable_client_stream('${ids.foreign}')`],
    [
      'invents an event',
      `INSERT INTO events (stream_id, type, txn) SELECT id, 'logout', id FROM event_streams`,
    ],
    ['changes a receiver', `UPDATE event_streams SET endpoint_url = 'https://evil.example/'`],
    [
      'invents a refused request',
      `INSERT INTO refused_requests (client_id, event, at, cause, error, description, detail)
       VALUES ('${ids.own}', 'token.2', now(), '', '', '', '{}')`,
    ],
    ['changes a refused request', `UPDATE refused_requests SET cause = 'code_expired'`],
    ['deletes refused requests', 'DELETE FROM refused_requests'],
    ['changes the number of requests', 'UPDATE audit_counts SET count = 0'],
    // Ways around the policies
    ['skips the policies', 'SET LOCAL row_security = off; SELECT 1 FROM clients'],
    ['becomes another process', 'SET ROLE oauth_operator'],
    ['disables the trigger', 'ALTER TABLE clients DISABLE TRIGGER clients_guard_review'],
    ['skips triggers', `SET session_replication_role = 'replica'`],
    [
      'replaces the function of the policies',
      `CREATE OR REPLACE FUNCTION oauth.current_developer() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
    ],
    [
      'hides a table by a temporary one',
      `CREATE TEMPORARY TABLE client_owners AS SELECT '${ids.foreign}'::text AS client_id, 1 AS user_id; SELECT 1 FROM clients WHERE client_id = '${ids.foreign}'`,
    ],
    ['writes history for another user', `SELECT record_client_history('${ids.foreign}', 'created', '{}')`],
    ['deletes a client', 'DELETE FROM clients'],
    ['empties a table', 'TRUNCATE client_requests'],
  ] as [string, string][])('never %s', async (what, statement) => {
    const found = await attempt(
      statement.replaceAll('$ada', String(users.ada)).replaceAll('$foreignEvent', foreignEvent),
      handles.eve,
    );
    const isConstraint = /^23514 .*(?:client_requests_decided_check|clients_document_check)/.test(
      String(found),
    );
    expect([what, isConstraint ? RIGHT : found || RIGHT]).toEqual([what, RIGHT]);
  });

  it.each([
    ['privacy policy', `policy_uri = 'https://app.example.com/privacy'`],
    ['contact', `contacts = '{mailto:b@example.com}'`],
    ['keys', `jwks_uri = 'https://app.example.com/jwks'`],
    ['redirect URI at the same origin', `redirect_uris = '{https://app.example.com/other}'`],
    ['deletion', 'deleted_at = now()'],
  ])('changes the %s of an own live client', async (_, change) => {
    expect(await attempt(`UPDATE clients SET ${change} WHERE client_id = '${ids.own}'`, handles.eve)).toBe(1);
  });

  it('owns a client that it registers in testing', async () => {
    expect(await attempt(client('stage', `'testing'`), handles.eve)).toBe(1);
    await asEve(client('stage', `'testing'`));
    expect(await attempt(`SELECT FROM clients WHERE client_id = 'sc_evil'`, handles.eve)).toBe(1);
    expect(await attempt(`SELECT FROM clients WHERE client_id = 'sc_evil'`, handles.ada)).toBe(0);
  });

  it('increases the version of a request with every change', async () => {
    await asEve(`UPDATE client_requests SET content = '{"name": "Other"}', version = 1`);
    const { rows } = await asEve('SELECT version FROM client_requests');
    expect(rows).toEqual([{ version: 2 }]);
  });

  it('increases the version of an undecided request with every change of its application in testing', async () => {
    const versionAfter = async (change: string) => {
      await asEve(change);
      const { rows } = await asEve('SELECT version FROM client_requests');
      return rows[0]?.version;
    };
    const before = Number(await versionAfter('SELECT'));
    const change = `UPDATE clients SET redirect_uris = '{https://evil.example/}' WHERE client_id = '${ids.testing}'`;
    expect(await versionAfter(change)).toBe(before + 1);
    const logo = `INSERT INTO client_logos (client_id, digest, media_type, image) VALUES ('${ids.testing}', encode(sha256('x'), 'hex'), 'image/png', 'x')`;
    expect(await versionAfter(logo)).toBe(before + 2);
    expect(await versionAfter('DELETE FROM client_logos')).toBe(before + 3);
  });

  const invite = (columns: string, values: string) =>
    `INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, expires_at, ${columns})
     SELECT '${ids.testing}', 'tester', sha256('e'), current_developer(), now() + interval '1 day', ${values}`;

  // The snapshot of such a transaction lacks mails, testers and grants that were committed after its first statement.
  it.each([
    ['invites by mail', invite('email', `'grace@example.com'`)],
    ['accepts an invitation', `SELECT FROM accept_client_invitation('a')`],
    ['removes a member', `DELETE FROM client_owners WHERE client_id = '${ids.own}'`],
  ])('never %s in an isolation level that hides concurrent changes', async (_, statement) => {
    expect(await attempt(statement, handles.eve)).toBe(1);
    await portal.query(`SET default_transaction_isolation = 'repeatable read'`);
    try {
      expect(await attempt(statement, handles.eve)).toBe('0A000 isolation_level_not_read_committed');
    } finally {
      await portal.query('RESET default_transaction_isolation');
    }
  });

  it('gives no invitation the id of a deleted one, whose mails would go to another address', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const { rows } = await asEve(`${invite('id', `'${id}'`)} RETURNING id`);
    expect(rows).toEqual([{ id: expect.not.stringMatching(id) as unknown }]);
    await asEve(`DELETE FROM client_invitations WHERE client_id = '${ids.testing}'`);
  });

  it('replaces no request by another with the same id and version', async () => {
    const { rows } = await asEve('SELECT id FROM client_requests');
    const id = String(rows[0]?.id);
    await asEve('DELETE FROM client_requests');
    await asEve(
      `INSERT INTO client_requests (id, version, user_id, kind, status, content)
       VALUES ('00000000-0000-4000-8000-000000000000', 7, current_developer(), 'registration', 'draft', '{}')`,
    );
    const all = await asEve('SELECT id, version, status FROM client_requests ORDER BY created_at');
    expect(all.rows).toMatchObject([
      { id, status: 'submitted' },
      { version: 1, status: 'draft' },
    ]);
    await asEve(`DELETE FROM client_requests WHERE status = 'draft'`);
  });

  it('names no operator in the history', async () => {
    await portal.query(`SELECT set_config('oauth.operator', 'Grace', false)`);
    await asEve(`UPDATE clients SET policy_uri = 'https://app.example.com/p' WHERE client_id = '${ids.own}'`);
    const { rows } = await asEve(
      `SELECT user_id, operator FROM client_history WHERE client_id = '${ids.own}' ORDER BY id DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ user_id: users.eve, operator: null }]);
  });
});
