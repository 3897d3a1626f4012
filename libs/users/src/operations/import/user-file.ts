import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { ImportedUserDto, type UserRecord } from '../../user-record.js';
import { refuseInvalid } from '#platform/validation/administration.error.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { fieldsOf } from '#platform/validation/validate.js';
import { csvRows } from './csv-rows.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    user_file_invalid: { readonly reason: 'empty' | 'nul' | 'json' | 'array' | 'lines' };
    column_unknown: { readonly name: string; readonly columns: readonly string[] };
    column_repeated: { readonly name: string };
    lines_skipped: { readonly first: number; readonly last: number };
    cells_differ: { readonly cells: number; readonly columns: number };
    not_utf8: null;
    not_json: null;
    not_an_object: null;
  }
}

export type Format = 'csv' | 'jsonl';

/** `line` is the first of `lines` lines. */
export type FileRecord = { readonly line: number; readonly lines: number } & (
  { readonly record: UserRecord } | { readonly problems: readonly Problem[] }
);

/** Limit in characters, far above the size of a real record. */
const MAX_RECORD = 65_536;
const COLUMNS = fieldsOf(ImportedUserDto);
/** The decoder inserts this character for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

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
    const reason = isChecked ? null : reasonToRefuse(chunk.trimStart(), format);
    if (reason !== null) refuseInvalid([problem('user_file_invalid', [], { reason })]);
    isChecked ||= chunk.trim() !== '';
    yield chunk;
  }
  if (!isChecked) refuseInvalid([problem('user_file_invalid', [], { reason: 'empty' })]);
}

function reasonToRefuse(text: string, format: Format) {
  // UTF-16 without a byte order mark.
  if (text.slice(0, 100).includes('\0')) return 'nul';
  if (format === 'csv') return /^[[{]/.test(text) ? 'json' : null;
  if (text.startsWith('[')) return 'array';
  return /^\{[^\S\n]*\n/.test(text) ? 'lines' : null;
}

async function* readJsonLines(chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (text === null)
      yield { line, lines: 1, problems: [problem('record_too_long', [], { max: MAX_RECORD })] };
    else if (text.trim() !== '') yield { line, lines: 1, ...parsed(text) };
  }
}

type Parsed = { record: UserRecord } | { problems: Problem[] };

function parsed(text: string): Parsed {
  if (text.includes(REPLACEMENT)) return { problems: [problem('not_utf8', [])] };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { record: value as UserRecord };
  } catch {
    return { problems: [problem('not_json', [])] };
  }
  return { problems: [problem('not_an_object', [])] };
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
      const skipped = last === line ? [] : [problem('lines_skipped', [], { first: line, last })];
      if (columns === null) refuseInvalid([{ ...row.problem, line }, ...skipped]);
      yield { line, lines: last - line + 1, problems: [row.problem, ...skipped] };
    }
  }
}

/** @throws AdministrationError for an unknown column, because a typo would silently drop the column's values */
function checkedHeader(header: readonly string[], line: number): readonly string[] {
  const unknown = header.filter((name) => !COLUMNS.includes(name));
  const repeated = header.filter((name, at) => header.indexOf(name) !== at);
  refuseInvalid([
    ...unknown.map((name) => ({ ...problem('column_unknown', [], { name, columns: COLUMNS }), line })),
    ...repeated.map((name) => ({ ...problem('column_repeated', [], { name }), line })),
  ]);
  return header;
}

const NUMBERS = new Set(['time_format', 'default_schedule_id', 'organization_id']);
const TRUTH_VALUES = new Set(['disabled', 'email_verified']);
/** Values of spreadsheets, PostgreSQL and MySQL. */
const TRUE = /^(?:true|t|1)$/i;
const FALSE = /^(?:false|f|0)$/i;

/** An empty cell means that the value is unknown. */
function fromCells(columns: readonly string[], cells: readonly string[]): Parsed {
  if (cells.length !== columns.length)
    return { problems: [problem('cells_differ', [], { cells: cells.length, columns: columns.length })] };
  if (cells.some((cell) => cell.includes(REPLACEMENT))) return { problems: [problem('not_utf8', [])] };
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
