import { eachServer } from '#platform/configuration/each-server.js';

/** The database could not be reached. The message names the server, never the user's password. */
export class DatabaseUnavailableError extends Error {
  constructor(databaseUrl: string, cause: unknown) {
    super(`cannot use the database ${databasePlace(databaseUrl)}: ${reason(cause)}; ${remedy(cause)}`, {
      cause,
    });
    this.name = 'DatabaseUnavailableError';
  }
}

/** Where a database is, without user and password: `a.example.com:5432/oauth`. */
export function databasePlace(databaseUrl: string): string {
  const servers = eachServer(databaseUrl).map((url) => new URL(url));
  if (servers.length === 0) return 'of DATABASE_URL, which is no URL';
  const addresses = servers.map(({ hostname, port }) => `${hostname}:${port || '5432'}`);
  return `${addresses.join(',')}${servers[0]?.pathname}`;
}

/** SQLSTATE invalid_catalog_name is the answer of a server that runs. */
function remedy(cause: unknown): string {
  if ((cause as { code?: string }).code === '3D000') return 'create it, or correct DATABASE_URL';
  return 'check DATABASE_URL and that PostgreSQL is running';
}

function reason(cause: unknown): string {
  const { message, code } = cause as { message?: string; code?: string };
  // Node joins the failures of several addresses in an AggregateError, whose message is empty.
  return message || code || 'no connection';
}
