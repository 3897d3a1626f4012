import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { type UserRecord, USER_FIELDS_OF_RECORDS } from '../../user-record.js';
import { refuseInvalid } from '#operations/administration.error.js';
import { quoted } from '#operations/wording.js';
import { csvRows } from './csv-rows.js';

export type Format = 'csv' | 'jsonl';

/** `line` is the first of `lines` lines. */
export type FileRecord = { readonly line: number; readonly lines: number } & (
  { readonly record: UserRecord } | { readonly problem: string }
);

/** Limit in characters, far above the size of a real record. */
const MAX_RECORD = 65_536;
const TOO_LONG = `longer than ${MAX_RECORD} characters`;
/** The decoder inserts this character for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';
const NOT_UTF_8 = 'not UTF-8: convert the file, for example with iconv -f WINDOWS-1252 -t UTF-8';

/** @throws AdministrationError before the first record, if the file is not in this format */
export function readRecords(input: Readable, format: Format): AsyncIterable<FileRecord> {
  const chunks = checked(textOf(input), format);
  return format === 'csv' ? readCsv(chunks) : readJsonLines(chunks);
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. Converts each line break to `\n`. */
async function* textOf(input: Readable): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let held = '';
  for await (const chunk of input as AsyncIterable<Buffer>) {
    decoder ??= new TextDecoder(encodingOf(chunk));
    const text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith('\r') ? '\r' : '';
    yield withLineBreaks(held === '' ? text : text.slice(0, -1));
  }
  yield withLineBreaks(held + (decoder?.decode() ?? ''));
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

const withLineBreaks = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** Refuses a file without content, or whose first characters belong to another format. */
async function* checked(chunks: AsyncIterable<string>, format: Format): AsyncGenerator<string> {
  let isChecked = false;
  for await (const chunk of chunks) {
    const problem = isChecked ? null : problemOf(chunk.trimStart(), format);
    if (problem !== null) refuseFile(problem);
    isChecked ||= chunk.trim() !== '';
    yield chunk;
  }
  if (!isChecked) refuseFile('the file is empty: check the export that wrote it');
}

function problemOf(text: string, format: Format): string | null {
  if (text.slice(0, 100).includes('\0'))
    return 'the file has NUL characters, as UTF-16 without a byte order mark: convert it, for example with iconv -f UTF-16LE -t UTF-8';
  if (format === 'csv' && /^[[{]/.test(text)) return 'the file is JSON, not CSV: use --format jsonl';
  if (format === 'jsonl' && text.startsWith('['))
    return "the file is a JSON array, not one object per line: convert it, for example with jq -c '.[]'";
  if (format === 'jsonl' && /^\{[^\S\n]*\n/.test(text))
    return 'an object is spread over several lines, not one object per line: convert the file, for example with jq -c .';
  return null;
}

function refuseFile(...problems: readonly string[]): void {
  refuseInvalid(problems.map((message) => ({ id: 'user_file_invalid', message })));
}

async function* readJsonLines(chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (text === null) yield { line, lines: 1, problem: TOO_LONG };
    else if (text.trim() !== '') yield { line, lines: 1, ...parsed(text) };
  }
}

function parsed(text: string): { record: UserRecord } | { problem: string } {
  if (text.includes(REPLACEMENT)) return { problem: NOT_UTF_8 };
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
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string | null> {
  let rest = '';
  let isTooLong = false;
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      yield isTooLong || text.length > MAX_RECORD ? null : text;
      isTooLong = false;
    }
    if (rest.length > MAX_RECORD) [rest, isTooLong] = ['', true];
  }
  if (rest !== '' || isTooLong) yield isTooLong ? null : rest;
}

async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let columns: readonly string[] | null = null;
  for await (const row of csvRows(chunks, MAX_RECORD)) {
    const { first: line, last } = row;
    if ('cells' in row) {
      if (columns === null) columns = checkedHeader(row.cells, line);
      else yield { line, lines: 1, ...fromCells(columns, row.cells) };
    } else {
      const range = last === line ? '' : `; lines ${line} to ${last} were not imported`;
      const problem = `${row.problem}${range}`;
      if (columns === null) refuseFile(`line ${line}: ${problem}`);
      yield { line, lines: last - line + 1, problem };
    }
  }
}

/** @throws AdministrationError for an unknown column, because a typo would silently drop the column's values */
function checkedHeader(header: readonly string[], line: number): readonly string[] {
  const unknown = header.filter((name) => !USER_FIELDS_OF_RECORDS.includes(name));
  const repeated = header.filter((name, at) => header.indexOf(name) !== at);
  if (unknown.length > 0 || repeated.length > 0)
    refuseFile(
      ...unknown.map((name) => `line ${line}: unknown column ${quoted(name)}`),
      ...repeated.map((name) => `line ${line}: the column ${name} occurs twice`),
      `the columns of the CSV file must be among ${USER_FIELDS_OF_RECORDS.join(', ')}`,
    );
  return header;
}

const NUMBERS = new Set(['time_format', 'default_schedule_id', 'organization_id']);
const TRUTH_VALUES = new Set(['disabled', 'email_verified']);
/** Values of spreadsheets, PostgreSQL and MySQL. */
const TRUE = /^(?:true|t|1)$/i;
const FALSE = /^(?:false|f|0)$/i;

/** An empty cell means that the value is unknown. */
function fromCells(
  columns: readonly string[],
  cells: readonly string[],
): { record: UserRecord } | { problem: string } {
  if (cells.length !== columns.length)
    return { problem: `${cells.length} cells instead of ${columns.length}` };
  if (cells.some((cell) => cell.includes(REPLACEMENT))) return { problem: NOT_UTF_8 };
  const values = columns.flatMap((name, at) => {
    const text = cells[at] ?? '';
    return text === '' ? [] : [[name, valueOf(name, text)] as const];
  });
  return { record: Object.fromEntries(values) };
}

/** Invalid values stay text, which the validation of the field rejects. */
function valueOf(name: string, text: string): unknown {
  if (NUMBERS.has(name)) return /^-?\d{1,10}$/.test(text) ? Number(text) : text;
  if (TRUTH_VALUES.has(name)) return TRUE.test(text) || (FALSE.test(text) ? false : text);
  return text;
}
