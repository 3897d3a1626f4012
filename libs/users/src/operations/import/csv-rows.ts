import { type Problem, problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    record_too_long: { readonly max: number };
    quote_unclosed: { readonly line: number };
    text_after_quote: null;
    quote_in_cell: null;
  }
}

/** A row, or lines that cannot be read. Lines are counted from 1. */
export type CsvRow = { readonly first: number; readonly last: number } & (
  { readonly cells: readonly string[] } | { readonly problem: Problem }
);

const SEPARATORS = [',', ';', '\t'];

type State = 'start of cell' | 'cell' | 'quoted cell' | 'after quote' | 'rest of line';

/**
 * Reads CSV (RFC 4180), in constant memory. The separator is the character of SEPARATORS that is most frequent in the
 * first line. Every line that is not blank is in exactly one row.
 *
 * Lines inside quotes are never read as rows, even if their row has a problem: they may be text of a user, who could
 * otherwise write a row about another user. So a quote that is never closed hides all lines after it.
 * @param chunks text with the line break `\n`
 * @param maxRow limit of a row in characters
 */
export async function* csvRows(chunks: AsyncIterable<string>, maxRow: number): AsyncGenerator<CsvRow> {
  const reader = new CsvReader(maxRow);
  let head = '';
  for await (const chunk of chunks) {
    if (reader.separator !== '') yield* reader.read(chunk);
    else if ((head += chunk).includes('\n') || head.length > maxRow) yield* reader.begin(head);
  }
  if (reader.separator === '') yield* reader.begin(head);
  yield* reader.end();
}

class CsvReader {
  separator = '';
  private state: State = 'start of cell';
  private line = 1;
  private isLineEmpty = true;
  private first = 1;
  private quotedSince = 1;
  private cells: string[] = [];
  private cell = '';
  /** Characters of the row so far. */
  private size = 0;
  private problem: Problem | null = null;

  constructor(private readonly maxRow: number) {}

  *begin(head: string): Generator<CsvRow> {
    const [firstLine = ''] = head.split('\n', 1);
    const count = (separator: string) => firstLine.split(separator).length;
    [this.separator = ','] = SEPARATORS.toSorted((a, b) => count(b) - count(a));
    yield* this.read(head);
  }

  *read(chunk: string): Generator<CsvRow> {
    for (const char of chunk) {
      this.size += 1;
      if (this.size > this.maxRow) this.fail(problem('record_too_long', [], { max: this.maxRow }));
      if (char === '\n' && this.state !== 'quoted cell') yield* this.endRow();
      else this.readChar(char);
      this.isLineEmpty = char === '\n';
      if (this.isLineEmpty) this.line += 1;
      if (this.size === 0) this.first = this.line;
    }
  }

  *end(): Generator<CsvRow> {
    if (this.state === 'quoted cell') {
      const unclosed = problem('quote_unclosed', [], { line: this.quotedSince });
      yield { first: this.first, last: this.line - (this.isLineEmpty ? 1 : 0), problem: unclosed };
    } else if (this.size > 0) yield* this.endRow();
  }

  private readChar(char: string): void {
    const { state } = this;
    if (state === 'rest of line') return;
    if (state === 'quoted cell') {
      if (char === '"') this.state = 'after quote';
      else this.append(char);
    } else if (char === this.separator) this.endCell();
    else if (char === '"' && state === 'start of cell') {
      this.state = 'quoted cell';
      this.quotedSince = this.line;
    } else if (char === '"' && state === 'after quote') {
      this.state = 'quoted cell';
      this.append(char);
    } else if (state === 'after quote') {
      this.fail(problem('text_after_quote', []));
      this.state = 'rest of line';
    } else {
      if (char === '"') this.fail(problem('quote_in_cell', []));
      this.state = 'cell';
      this.append(char);
    }
  }

  private append(char: string): void {
    if (this.problem === null) this.cell += char;
  }

  private endCell(): void {
    if (this.problem === null) this.cells.push(this.cell);
    this.cell = '';
    this.state = 'start of cell';
  }

  private fail(found: Problem): void {
    this.problem ??= found;
    this.cells = [];
    this.cell = '';
  }

  private *endRow(): Generator<CsvRow> {
    const { first, line: last, problem: found } = this;
    this.endCell();
    const { cells } = this;
    [this.cells, this.problem, this.size] = [[], null, 0];
    if (found !== null) yield { first, last, problem: found };
    else if (cells.length > 1 || cells[0]?.trim() !== '') yield { first, last, cells };
  }
}
