import { tracingChannel } from 'node:diagnostics_channel';

/** What is told of a statement while it runs: what it does to which table, never its text or its values. */
export interface Statement {
  /** Its first word, in capitals. */
  readonly operation: string;
  /** The first table it names; absent where it names none. */
  readonly table?: string;
}

/** Where whoever measures or follows statements hears of each. */
export const STATEMENTS = tracingChannel<unknown, Statement>('scheduling-oauth:statement');

/** Reads what to tell of a statement. Our statements are constant texts, so that few different ones exist. */
export function describeStatement(text: string): Statement {
  const [operation = 'OTHER'] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+"?(\w+)/i.exec(text) ?? [];
  return { operation: operation.toUpperCase(), ...(table !== undefined && { table }) };
}
