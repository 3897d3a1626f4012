/** A fixture or an app under test, with a connection to the database of the suite. */
interface Database {
  sql(text: string, values?: unknown[]): Promise<unknown>;
}

/** Stores a public client that the operator imported with this id. */
export async function storeClient(
  database: Database,
  clientId: string,
  { name = clientId, redirectUri = 'https://a.example/' } = {},
): Promise<void> {
  await database.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes) VALUES ($1, $2, 'public', $3, '{profile:read}')`,
    [clientId, name, [redirectUri]],
  );
}

/** Stores a client of `client_credentials`, unless the client exists. */
export async function storeApiClient(database: Database, clientId: string): Promise<void> {
  await database.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes, grant_type, jwks_uri, require_state)
     VALUES ($1, 'Terraform', 'confidential', '{}', '{admin:read}', 'client_credentials', 'https://terraform.example.com/jwks', false)
     ON CONFLICT DO NOTHING`,
    [clientId],
  );
}

/** Changes only the table, unlike the operator, who also announces the change. */
export async function disableClients(database: Database, ...ids: readonly string[]): Promise<void> {
  await database.sql('UPDATE clients SET disabled_at = now() WHERE client_id = ANY($1)', [ids]);
}
