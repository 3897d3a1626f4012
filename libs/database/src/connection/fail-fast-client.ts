import { tracingChannel } from 'node:diagnostics_channel';
import { Client, type ClientConfig } from 'pg';
import { isReadOnlyServer } from './errors.js';

/** What telemetry learns of a statement: its operation and table, never its text or its values. */
interface Statement {
  /** Its first word, in capitals. */
  readonly operation: string;
  /** The first table it names; absent if it names none. */
  readonly table?: string;
}

/** Publishes every statement for metrics and traces. */
const STATEMENTS = tracingChannel<unknown, Statement>('scheduling-oauth:statement');

type Query = (...parameters: unknown[]) => unknown;

/**
 * A connection to PostgreSQL that closes as soon as it is useless. The driver would return it to the pool:
 * - a query got no answer within `query_timeout`: every later query would wait behind it, on the connection to a machine that
 *   died and closes nothing, for a quarter of an hour;
 * - a write was refused because the server is a standby by now: a new connection finds the new primary.
 */
export class FailFastClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    this.query = ((...parameters: unknown[]) => {
      const result = published(query, parameters);
      if (result instanceof Promise) result.catch((error: unknown) => this.closeIfUseless(error));
      return result;
    }) as Client['query'];
  }

  private closeIfUseless(error: unknown): void {
    if (!(error instanceof Error)) return;
    // The driver's timeout has no code.
    if (error.message === 'Query read timeout' || isReadOnlyServer(error))
      this.connection.stream.destroy(error);
  }
}

/** Runs a query and publishes it. Queries with a callback are the driver's own. */
function published(query: Query, parameters: unknown[]): unknown {
  const [statement] = parameters;
  if (typeof statement !== 'string' || parameters.some((parameter) => typeof parameter === 'function'))
    return query(...parameters);
  return STATEMENTS.tracePromise(
    () => query(...parameters) as Promise<unknown>,
    describeStatement(statement),
  );
}

/** Our statements are constant texts, so that the descriptions are few. */
function describeStatement(text: string): Statement {
  const [operation = 'OTHER'] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+"?(\w+)/i.exec(text) ?? [];
  return { operation: operation.toUpperCase(), ...(table !== undefined && { table }) };
}
