import { Client, type ClientConfig } from 'pg';
import { describeStatement, STATEMENTS } from './statements.js';

type Query = (...parameters: unknown[]) => unknown;

/**
 * A connection to PostgreSQL that ends when it is of no more use. The driver would hand it back to the pool:
 * - a query got no answer in `query_timeout`: every later query would wait behind it, those to a machine that died,
 *   which closes nothing, for a quarter of an hour;
 * - a write was refused because the server takes none any more: it is a standby by now, and a new connection finds the
 *   server that took over.
 */
export class ImpatientClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    this.query = ((...parameters: unknown[]) => {
      const result = told(query, parameters);
      if (result instanceof Promise) result.catch((error: unknown) => this.endIfUseless(error));
      return result;
    }) as Client['query'];
  }

  private endIfUseless(error: unknown): void {
    if (!(error instanceof Error)) return;
    const { message, code } = error as Error & { code?: string };
    // The driver gives a query that is late no code; 25006 is SQLSTATE's read_only_sql_transaction.
    if (message === 'Query read timeout' || code === '25006') this.connection.stream.destroy(error);
  }
}

/** Runs a query so that whoever listens is told of it. Those with a callback are the driver's own. */
function told(query: Query, parameters: unknown[]): unknown {
  const [statement] = parameters;
  if (typeof statement !== 'string' || parameters.some((parameter) => typeof parameter === 'function'))
    return query(...parameters);
  return STATEMENTS.tracePromise(
    () => query(...parameters) as Promise<unknown>,
    describeStatement(statement),
  );
}
