import { randomBytes } from 'node:crypto';

interface Database {
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
}

export interface StoredRequest {
  readonly id: string;
  readonly clientId: string;
}

/** Name with markup, a formula and a bidirectional override, as an attacker would request it. */
export const HOSTILE_NAME = '=<img src=x onerror=alert(1)> Notes';

/** Stores an application in testing with an owner, and the submitted request of its registration. */
export async function storeRequest(
  database: Database,
  content: Readonly<Record<string, unknown>> = {},
): Promise<StoredRequest> {
  const clientId = `sc_${randomBytes(12).toString('hex')}`;
  const registration = {
    name: 'Notes',
    redirectUris: ['https://elsewhere.example/callback'],
    clientUri: 'https://notes.example/',
    scopes: ['profile:read'],
    ...content,
  };
  const { name, redirectUris, clientUri, scopes } = registration;
  await database.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes, client_uri, stage) VALUES ($1, $2, 'confidential', $3, $4, $5, 'testing')`,
    [clientId, name, redirectUris, scopes, clientUri],
  );
  const owner = randomBytes(6).toString('hex');
  await database.sql(
    `WITH owner AS (INSERT INTO users (username, email, name) VALUES ($2, $2 || '@example.com', 'Olga') RETURNING id)
     INSERT INTO client_owners (client_id, user_id) SELECT $1, id FROM owner`,
    [clientId, owner],
  );
  const details = {
    application: 'server',
    purpose: 'Keeps <b>notes</b>',
    reasons: { 'profile:read': 'Shows the name' },
  };
  const [row] = await database.sql<{ id: string }>(
    `INSERT INTO client_requests (client_id, kind, status, content, submitted_at)
     VALUES ($1, 'registration', 'submitted', $2, now() - interval '3 days') RETURNING id`,
    [clientId, { ...registration, ...details }],
  );
  return { id: row?.id ?? '', clientId };
}

export async function stateOf(database: Database, { id, clientId }: StoredRequest) {
  const [row] = await database.sql<{ status: string; stage: string; disabled: boolean }>(
    `SELECT r.status, c.stage, c.disabled_at IS NOT NULL AS disabled FROM client_requests r JOIN clients c ON c.client_id = $2 WHERE r.id = $1`,
    [id, clientId],
  );
  return row;
}
