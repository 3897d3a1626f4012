import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';

export interface Statement {
  /** For telemetry, which never sees the text or values. */
  readonly description: StatementDescription;
  /** Name of the prepared statement; undefined if not prepared. */
  readonly name?: string;
}

export interface StatementDescription {
  /** First word, upper-case. */
  readonly operation: string;
  /** First table in the statement; absent without one. */
  readonly table?: string;
}

/** More than this service has. Bounds the plans that the server keeps if a text varies with the number of values. */
const MAX_STATEMENTS = 200;

/**
 * SQLSTATE: the prepared statement does not exist, or already exists, because a connection pooler switched the server
 * connection.
 */
const NOT_PREPARED = new Set(['26000', '42P05']);
/** A migration changed the result's columns. The code alone is not enough: our triggers use it too. */
const OUTDATED_PLAN = { code: '0A000', message: /^cached plan/ };

/**
 * Named statements are parsed and planned once per connection, which saves two thirds of PostgreSQL's work for a page.
 * PgBouncer before 1.21 does not support them in transaction mode: the first failure disables them for this process.
 */
export class Statements {
  private readonly logger = new Logger('Database');
  private readonly known = new Map<string, Required<Statement>>();
  private isEnabled = true;

  /** @param hasValues false for statements without placeholders, such as transaction control and migrations */
  find(text: string, hasValues: boolean): Statement {
    const known = hasValues ? (this.known.get(text) ?? this.remember(text)) : undefined;
    if (known && this.isEnabled) return known;
    return { description: known?.description ?? describe(text) };
  }

  /** True if a statement failed before execution and can be retried unprepared. */
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
    if (this.known.size >= MAX_STATEMENTS) return undefined;
    // Derived from the text, because two processes may share a server connection behind a pooler.
    const name = `oauth_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    const statement = { description: describe(text), name };
    this.known.set(text, statement);
    return statement;
  }
}

function describe(text: string): StatementDescription {
  const [operation = 'OTHER'] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+"?(\w+)/i.exec(text) ?? [];
  return { operation: operation.toUpperCase(), ...(table !== undefined && { table }) };
}
