import { tracingChannel } from 'node:diagnostics_channel';
import { Client, type ClientConfig } from 'pg';
import { isReadOnlyServer } from './errors.js';
import { type StatementDescription, Statements } from './statements.js';

/** Publishes every statement for metrics and traces. */
const STATEMENTS = tracingChannel<unknown, StatementDescription>('scheduling-oauth:statement');

const statements = new Statements();

/** SQLSTATE in_failed_sql_transaction. */
const FAILED_TRANSACTION = '25P02';

/**
 * The first error has ended the transaction, in which nothing can be repeated. It has changed nothing, and its caller may begin it
 * again, as after a lost connection (SQLSTATE 08006).
 */
function connectionLost(cause: unknown): Error {
  return Object.assign(new Error('the connection lost its prepared statements', { cause }), {
    code: '08006',
  });
}

type Query = (...parameters: unknown[]) => unknown;

/**
 * A connection to PostgreSQL that prepares its statements, and that closes as soon as it is useless. The driver would return it
 * to the pool:
 * - a query got no answer within `query_timeout`: every later query would wait behind it, on the connection to a machine that
 *   died and closes nothing, for a quarter of an hour;
 * - a write was refused because the server is a standby by now: a new connection finds the new primary.
 */
export class FailFastClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    this.query = ((...parameters: unknown[]) => {
      const [text, values, ...rest] = parameters;
      // With a callback it is the driver's own.
      if (typeof text !== 'string' || typeof values === 'function' || rest.length > 0)
        return query(...parameters);
      const hasValues = Array.isArray(values) && values.length > 0;
      const { description, name } = statements.find(text, hasValues);
      const run =
        name !== undefined && hasValues
          ? () => this.runPrepared(query, { name, text, values })
          : () => query(...parameters) as Promise<unknown>;
      // An object of its own: the channel adds the outcome to it, and the same statement may run on another connection.
      const result = STATEMENTS.tracePromise(run, { ...description });
      result.catch((error: unknown) => this.closeIfUseless(error));
      return result;
    }) as Client['query'];
  }

  private async runPrepared(
    query: Query,
    statement: { readonly name: string; readonly text: string; readonly values: unknown[] },
  ): Promise<unknown> {
    try {
      return await query(statement);
    } catch (error) {
      if (!statements.isRepeatable(error)) throw error;
      try {
        return await query(statement.text, statement.values);
      } catch (repeated) {
        throw (repeated as { code?: string }).code === FAILED_TRANSACTION ? connectionLost(error) : repeated;
      }
    }
  }

  private closeIfUseless(error: unknown): void {
    if (!(error instanceof Error)) return;
    // The driver's timeout has no code.
    if (error.message === 'Query read timeout' || isReadOnlyServer(error))
      this.connection.stream.destroy(error);
  }
}
