import { tracingChannel } from 'node:diagnostics_channel';
import { Client, type ClientConfig } from 'pg';
import { isReadOnlyServer } from './errors.js';
import { type StatementDescription, Statements } from './statements.js';

const STATEMENTS = tracingChannel<unknown, StatementDescription>('scheduling-oauth:statement');

const statements = new Statements();

/** SQLSTATE in_failed_sql_transaction. */
const FAILED_TRANSACTION = '25P02';

/**
 * The first error aborted the transaction, which cannot be resumed. Nothing was changed: the caller may restart it, as after a
 * lost connection (SQLSTATE 08006).
 */
function connectionLost(cause: unknown): Error {
  return Object.assign(new Error('the connection lost its prepared statements', { cause }), {
    code: '08006',
  });
}

type Query = (...parameters: unknown[]) => unknown;

/**
 * PostgreSQL connection that prepares its statements, and that closes as soon as it is useless. The driver would return it to
 * the pool:
 * - after `query_timeout`: on a connection to a dead machine, every later query would wait for a quarter of an hour
 * - after a write is rejected because the server became a standby: a new connection finds the new primary
 */
export class FailFastClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    this.query = ((...parameters: unknown[]) => {
      const [text, values, ...rest] = parameters;
      // The driver's internal queries have a callback.
      if (typeof text !== 'string' || typeof values === 'function' || rest.length > 0)
        return query(...parameters);
      const hasValues = Array.isArray(values) && values.length > 0;
      const { description, name } = statements.find(text, hasValues);
      const run =
        name !== undefined && hasValues
          ? () => this.runPrepared(query, { name, text, values })
          : () => query(...parameters) as Promise<unknown>;
      // A copy, because the channel adds the outcome to it, and the same statement may run concurrently on another connection.
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
    // The driver's timeout error has no code.
    if (error.message === 'Query read timeout' || isReadOnlyServer(error))
      this.connection.stream.destroy(error);
  }
}
