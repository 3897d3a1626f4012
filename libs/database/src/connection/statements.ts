import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';

export interface Statement {
  /** What telemetry learns of it: its operation and table, never its text or its values. */
  readonly description: StatementDescription;
  /** The name under which PostgreSQL keeps its plan; undefined for a statement that is not prepared. */
  readonly name?: string;
}

export interface StatementDescription {
  /** Its first word, in capitals. */
  readonly operation: string;
  /** The first table it names; absent if it names none. */
  readonly table?: string;
}

/** More than we have. A statement whose text is made anew for every number of values must not fill a server with plans. */
const MAX_STATEMENTS = 200;

/** SQLSTATE: the prepared statement does not exist, or exists already. A connection pooler gave us another server connection. */
const NOT_PREPARED = new Set(['26000', '42P05']);
/** The result has other columns since a migration. The code alone is not enough: our triggers use it too. */
const OUTDATED_PLAN = { code: '0A000', message: /^cached plan/ };

/**
 * The statements of this process. PostgreSQL parses and plans a named one once per connection instead of every time, which is
 * two thirds of its work for a page. PgBouncer before 1.21 cannot do that in transaction mode: the first failure ends it for
 * this process.
 */
export class Statements {
  private readonly logger = new Logger('Database');
  private readonly known = new Map<string, Required<Statement>>();
  private prepares = true;

  /** @param hasValues whether the text has placeholders; without them it belongs to a transaction, or to a migration */
  find(text: string, hasValues: boolean): Statement {
    const known = hasValues ? (this.known.get(text) ?? this.remember(text)) : undefined;
    if (known && this.prepares) return known;
    return { description: known?.description ?? describe(text) };
  }

  /** Whether to run a statement that failed with this error again, unprepared: it was not executed. */
  isRepeatable(error: unknown): boolean {
    const { code = '', message = '' } = error as { code?: string; message?: string };
    const isOutdated = code === OUTDATED_PLAN.code && OUTDATED_PLAN.message.test(message);
    if (!NOT_PREPARED.has(code) && !isOutdated) return false;
    if (this.prepares)
      this.logger.warn(
        `statements are not prepared any more: ${message}. A connection pooler in transaction mode must support prepared statements`,
      );
    this.prepares = false;
    return true;
  }

  private remember(text: string): Required<Statement> | undefined {
    if (this.known.size >= MAX_STATEMENTS) return undefined;
    // By its text: behind a pooler two processes may meet on one connection of the server.
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
