import type { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { type UserRecord, USER_FIELDS_OF_RECORDS } from '#database/user/user-record.js';
import { refuseInvalid } from '../administration.error.js';
import { quoted } from '../text.js';

export type Format = 'csv' | 'jsonl';

export type FileRecord = { readonly line: number } & (
  { readonly record: UserRecord } | { readonly problem: string }
);

/** Limit in characters, far above the size of a real record. */
const MAX_RECORD = 65_536;
const TOO_LONG = `longer than ${MAX_RECORD} characters`;
/** The decoder inserts this character for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

export function readRecords(input: Readable, format: Format): AsyncIterable<FileRecord> {
  return format === 'csv' ? readCsv(input) : readJsonLines(input);
}

async function* readJsonLines(input: Readable): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const text of linesOf(input)) {
    line += 1;
    if (text === null) yield { line, problem: TOO_LONG };
    else if (text.trim() !== '') yield { line, ...parsed(text) };
  }
}

function parsed(text: string): { record: UserRecord } | { problem: string } {
  if (text.includes(REPLACEMENT)) return { problem: 'not UTF-8' };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { record: value as UserRecord };
  } catch {
    return { problem: 'not JSON' };
  }
  return { problem: 'not a JSON object' };
}

/** Yields null for a line that is too long, and discards its text. */
async function* linesOf(input: Readable): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let rest = '';
  let isTooLong = false;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      yield isTooLong || text.length > MAX_RECORD ? null : text;
      isTooLong = false;
    }
    if (rest.length > MAX_RECORD) [rest, isTooLong] = ['', true];
  }
  rest += decoder.decode();
  if (rest !== '' || isTooLong) yield isTooLong ? null : rest;
}

async function* readCsv(input: Readable): AsyncGenerator<FileRecord> {
  const skipped: FileRecord[] = [];
  const parser = input.pipe(
    parse({
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      max_record_size: MAX_RECORD,
      on_skip: (error) =>
        void skipped.push({
          line: (error as { lines?: number } | undefined)?.lines ?? 0,
          problem: 'not CSV',
        }),
    }),
  );
  input.on('error', (error) => parser.destroy(error));
  let columns: readonly string[] | null = null;
  let line = 1;
  for await (const { record, info } of parser as AsyncIterable<{
    record: string[];
    info: { lines: number };
  }>) {
    yield* skipped.splice(0);
    if (columns === null) columns = checkedHeader(record);
    else yield { line, ...fromCells(columns, record) };
    // `lines` is the last line of the record.
    line = info.lines + 1;
  }
  yield* skipped;
}

/** @throws AdministrationError for an unknown column, because a typo would silently drop the column's values */
function checkedHeader(header: readonly string[]): readonly string[] {
  const unknown = header.filter((name) => !USER_FIELDS_OF_RECORDS.includes(name));
  const repeated = header.filter((name, at) => header.indexOf(name) !== at);
  if (unknown.length === 0 && repeated.length === 0) return header;
  const problems = [
    ...unknown.map((name) => `line 1: unknown column ${quoted(name)}`),
    ...repeated.map((name) => `line 1: the column ${name} occurs twice`),
    `the columns of the CSV file must be among ${USER_FIELDS_OF_RECORDS.join(', ')}`,
  ];
  refuseInvalid(problems.map((message) => ({ id: 'user_file_invalid', message })));
  return header;
}

const NUMBERS = new Set(['time_format', 'default_schedule_id', 'organization_id']);
const TRUTH_VALUES = new Set(['disabled', 'email_verified']);

/** An empty cell means that the value is unknown. */
function fromCells(
  columns: readonly string[],
  cells: readonly string[],
): { record: UserRecord } | { problem: string } {
  if (cells.length !== columns.length)
    return { problem: `${cells.length} cells instead of ${columns.length}` };
  if (cells.some((cell) => cell.includes(REPLACEMENT))) return { problem: 'not UTF-8' };
  const values = columns.flatMap((name, at) => {
    const text = cells[at] ?? '';
    return text === '' ? [] : [[name, valueOf(name, text)] as const];
  });
  return { record: Object.fromEntries(values) };
}

/** Invalid values stay text, which the validation of the field rejects. */
function valueOf(name: string, text: string): unknown {
  if (NUMBERS.has(name)) return /^-?\d{1,10}$/.test(text) ? Number(text) : text;
  if (TRUTH_VALUES.has(name)) return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}
