import { createHash } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import { Logger } from '@nestjs/common';
import { Client, type ClientConfig } from 'pg';
import { DataSource, type DataSourceOptions, type QueryRunner, type ReplicationMode } from 'typeorm';
import { isReadOnlyServer, translateOutage } from './postgres-errors.js';

interface Statement {
  /** Description for telemetry, without the SQL text and values. */
  readonly description: StatementDescription;
  readonly name?: string;
}

interface StatementDescription {
  readonly operation: string;
  readonly table?: string;
}

/** Exceeds the number of statements of this service. Bounds the plans on the server if texts contain values. */
const MAX_STATEMENTS = 200;

/** SQLSTATEs of a prepared statement that is missing or exists already, because a pooler switched the connection. */
const NOT_PREPARED = new Set(['26000', '42P05']);
/** Error of a plan that a migration has outdated. Includes the message, because our triggers use the same code. */
const OUTDATED_PLAN = { code: '0A000', message: /^cached plan/ };

/**
 * Names statements, so that PostgreSQL parses each only once per connection and can reuse its plan, which saves two
 * thirds of the work for a page. PgBouncer before 1.21 does not support named statements in transaction mode, so the
 * first failure disables them for the pool.
 */
export class Statements {
  private readonly logger = new Logger('Database');
  private readonly statements = new Map<string, Required<Statement>>();
  private isEnabled = true;

  /** @param hasValues false for statements without placeholders, such as transaction control and migrations */
  find(text: string, hasValues: boolean): Statement {
    const statement = hasValues ? (this.statements.get(text) ?? this.remember(text)) : undefined;
    if (statement && this.isEnabled) return statement;
    return { description: statement?.description ?? descriptionOf(text) };
  }

  /** Returns true if a statement failed before execution and can be retried unprepared. */
  isRepeatable(error: unknown): boolean {
    const { code = '', message = '' } = error as { code?: string; message?: string };
    const isOutdated = code === OUTDATED_PLAN.code && OUTDATED_PLAN.message.test(message);
    if (!NOT_PREPARED.has(code) && !isOutdated) return false;
    if (this.isEnabled)
      this.logger.warn(
        `prepared statements are now disabled: ${message}. A connection pooler in transaction mode must support prepared statements`,
      );
    this.isEnabled = false;
    return true;
  }

  private remember(text: string): Required<Statement> | undefined {
    if (this.statements.size >= MAX_STATEMENTS) return undefined;
    // Derived from the text, because two processes may share a server connection behind a pooler.
    const name = `oauth_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    const statement = { description: descriptionOf(text), name };
    this.statements.set(text, statement);
    return statement;
  }
}

function descriptionOf(text: string): StatementDescription {
  const [operation = 'OTHER'] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+"?(\w+)/i.exec(text) ?? [];
  return { operation: operation.toUpperCase(), ...(table !== undefined && { table }) };
}

const STATEMENTS = tracingChannel<unknown, StatementDescription>('scheduling-oauth:statement');

/** SQLSTATE in_failed_sql_transaction. */
const FAILED_TRANSACTION = '25P02';

/**
 * Returns the error of a lost connection (SQLSTATE 08006), after which the caller may restart the transaction that the
 * first error aborted.
 */
function connectionLost(cause: unknown): Error {
  return Object.assign(new Error('the connection lost its prepared statements', { cause }), {
    code: '08006',
  });
}

export interface FailFastClientConfig extends ClientConfig {
  /** Prepared statements, shared by the connections of a pool. */
  readonly statements: Statements;
}

type RunQuery = (...parameters: unknown[]) => unknown;

/**
 * Closes a useless connection, which the driver would return to the pool:
 * - after `query_timeout`: on a connection to a dead machine, every later query would wait for a quarter of an hour
 * - after a write is rejected because the server became a standby: a new connection finds the new primary
 */
export class FailFastClient extends Client {
  private readonly statements: Statements;

  constructor(config: FailFastClientConfig) {
    super(config);
    const { statements } = config;
    this.statements = statements;
    const query = this.query.bind(this) as RunQuery;
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
      // Copied, because the channel adds the outcome to the object, and connections may run the statement concurrently.
      const result = STATEMENTS.tracePromise(run, { ...description });
      result.catch((error: unknown) => this.closeIfUseless(error));
      return result;
    }) as Client['query'];
  }

  private async runPrepared(
    query: RunQuery,
    statement: { readonly name: string; readonly text: string; readonly values: unknown[] },
  ): Promise<unknown> {
    try {
      return await query(statement);
    } catch (error) {
      if (!this.statements.isRepeatable(error)) throw error;
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

/**
 * Rejects a connection to another schema, because a pooler may drop the requested `search_path`. Reports outages as
 * DependencyUnavailableError.
 */
export class ServiceDataSource extends DataSource {
  private metadatas: Promise<void> | undefined;
  private connecting: Promise<unknown> | undefined;
  private connected: () => Promise<unknown> | undefined = () => undefined;

  constructor(
    options: DataSourceOptions,
    private readonly schema: string,
  ) {
    super(options);
  }

  /** The first statement connects. @param connect calls `initialize` */
  async connectOnUse(connect: () => Promise<unknown>): Promise<this> {
    await this.buildMetadatas();
    this.connected = () => (this.connecting ??= connect());
    return this;
  }

  /** Disconnects, after an attempt to connect has ended. */
  async close(): Promise<void> {
    await this.connecting?.catch(() => undefined);
    if (this.isInitialized) await this.destroy();
  }

  /** Covers every query and transaction, because TypeORM creates a runner for each. */
  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    return this.runnerAfter(() => this.connected(), mode);
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    const path = await this.searchPath();
    if (path === this.schema) return this;
    await this.destroy();
    throw new Error(
      `the search_path is ${path}, not the schema ${this.schema}: a connection pooler or the options in the URL override it. ` +
        `ALTER ROLE … SET search_path = ${this.schema} works with every pooler`,
    );
  }

  /** Builds them once, because statements that wait for the connection refer to them. */
  protected override buildMetadatas(): Promise<void> {
    return (this.metadatas ??= super.buildMetadatas());
  }

  private async searchPath(): Promise<string> {
    // Other statements wait for this one.
    const runner = this.runnerAfter(() => undefined);
    try {
      const [row] = await this.query<{ search_path: string }[]>('SHOW search_path', [], runner);
      return row?.search_path ?? '';
    } finally {
      await runner.release();
    }
  }

  private runnerAfter(ready: () => Promise<unknown> | undefined, mode?: ReplicationMode): QueryRunner {
    const runner = super.createQueryRunner(mode);
    const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
    runner.query = ((...parameters: unknown[]) => {
      const connecting = ready();
      const result = connecting ? connecting.then(() => query(...parameters)) : query(...parameters);
      return result.catch((error: unknown) => {
        throw translateOutage(error);
      });
    }) as QueryRunner['query'];
    return runner;
  }
}
