import type { Redis } from 'ioredis';
import { FIELD, STATUS } from '#grants/grant-hash.js';
import type { ClientWithSecrets } from '#clients/client.js';

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

/** Stores a confidential client with a secret. */
export async function storeClientWithSecret(
  database: Database,
  clientId: string,
  options?: Parameters<typeof storeClient>[2],
): Promise<void> {
  await storeClient(database, clientId, options);
  await database.sql(`UPDATE clients SET type = 'confidential' WHERE client_id = $1`, [clientId]);
  await database.sql(`INSERT INTO client_secrets (client_id, hash) VALUES ($1, sha256('secret'))`, [
    clientId,
  ]);
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

/** Hash of a grant in Redis, with long field names. */
export interface StoredGrant extends Partial<Record<keyof typeof FIELD, string>> {
  readonly status?: keyof typeof STATUS;
  readonly [other: string]: string | undefined;
}

/** Returns the stored grant; an empty object if Redis has no such grant. */
export async function storedGrant(redis: Redis, id: string): Promise<StoredGrant> {
  return withFullNames(await redis.hgetall(`grant:${id}`));
}

export function withFullNames(hash: Readonly<Record<string, string>>): StoredGrant {
  return Object.fromEntries(
    Object.entries(hash).map(([field, value]) => [
      fullName(FIELD, field),
      field === FIELD.status ? fullName(STATUS, value) : value,
    ]),
  );
}

function fullName(shortNames: Readonly<Record<string, string>>, short: string): string {
  return Object.keys(shortNames).find((name) => shortNames[name] === short) ?? short;
}

/** Returns a client in the form in which stores return it. */
export function registeredClient(values: Partial<ClientWithSecrets> = {}): ClientWithSecrets {
  return {
    clientId: 'sc_abcdefghijklmnopqrstuvwx',
    name: 'Calendar Connect',
    type: 'confidential',
    redirectUris: ['https://a.example/cb'],
    scopes: ['profile:read'],
    optionalScopes: [],
    requirePar: false,
    privateSchemes: [],
    developerPortal: false,
    stage: 'live',
    requireState: true,
    firstParty: false,
    idTokenAlg: null,
    sector: null,
    subjectKey: null,
    postLogoutRedirectUris: [],
    backchannelLogoutUri: null,
    document: null,
    clientUri: null,
    policyUri: null,
    contacts: [],
    jwks: null,
    jwksUri: null,
    grantType: 'authorization_code',
    deviceGrant: false,
    dpopBound: false,
    keepsRefreshToken: false,
    profile: null,
    disabledAt: null,
    logo: null,
    secrets: [],
    version: 1,
    createdAt: new Date(0),
    ...values,
  };
}
