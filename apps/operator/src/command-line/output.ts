import type { ListPage } from '#platform/postgres/list-page.js';
import { jsonText, printable } from '#operations/wording.js';
import { type Cell, styled, tableLines } from './table.js';
import { hanging, widthOf, wrapped } from './wrap.js';

export interface JsonOption {
  json?: boolean | undefined;
}

/** Reads the raw arguments, because an error may precede parsing. */
export function wantsJson(args: readonly string[] = process.argv.slice(2)): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).includes('--json');
}

export function printResult({ json }: JsonOption, value: unknown, asText: () => void): void {
  if (json) printJson(value);
  else asText();
}

function printJson(value: unknown): void {
  process.stdout.write(`${jsonText(value, 2)}\n`);
}

export function printJsonLine(value: unknown): void {
  process.stdout.write(jsonLine(value));
}

export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`;
}

export function printLine(text = ''): void {
  printRaw(wrapped(text, widthOf(process.stdout)));
}

/** Prints text that must not be wrapped, because it is parsed, copied or already laid out. */
export function printRaw(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printFields(fields: Readonly<Record<string, string>>): void {
  const lines = Object.entries(fields).map((line) => line.map(printable) as [string, string]);
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines)
    printRaw(
      hanging(`${styled('bold', name)}${' '.repeat(width - name.length)}  `, value, widthOf(process.stdout)),
    );
}

type DescribedValue = string | number | boolean | null | readonly string[];

export function asText(described: Readonly<Record<string, DescribedValue>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(described).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, value ? 'yes' : 'no'];
      if (typeof value === 'object' && value !== null) return [name, value.join(' ') || 'none'];
      return [name, String(value ?? 'none')];
    }),
  );
}

/** Fits a table to the terminal; shortens nothing if stdout is not a terminal. Replaces control characters. */
export function printTable(heading: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const clean = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? printable(cell) : { ...cell, text: printable(cell.text) })),
  );
  for (const line of tableLines(heading, clean, widthOf(process.stdout))) printRaw(line);
}

/** Name of a field, which the column shows; or a heading with a function that returns the cell. */
type Column<Item> = (keyof Item & string) | readonly [heading: string, cell: (item: Item) => Cell];

/** Prints a JSON array, or a table. @param none text for an empty list */
export function printList<Item>(
  options: JsonOption,
  items: readonly Item[],
  none: string,
  columns: readonly Column<Item>[],
): void {
  printResult(options, items, () => {
    if (items.length === 0) return printLine(none);
    printTable(
      columns.map((column) => (typeof column === 'string' ? column : column[0])),
      items.map((item) =>
        columns.map((column) =>
          typeof column === 'string' ? cellOf(column, item[column]) : column[1](item),
        ),
      ),
    );
  });
}

function cellOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  return name.endsWith('_at') ? minuteOf(value) : value;
}

/** Formats a time for a column, in UTC, like `2026-11-22 18:04`. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

/** Prints the cursors to stderr, so that stdout has only the list, also as JSON. */
export function printPages({ next, previous }: Pick<ListPage<unknown>, 'next' | 'previous'>): void {
  if (next !== null) process.stderr.write(`\nFor the next page, add --cursor ${next}\n`);
  if (previous !== null) process.stderr.write(`For the previous page, add --cursor ${previous}\n`);
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

export function warn(text: string): void {
  printMessage(styled('yellow', 'warning:', process.stderr), text);
}

export function printError(text: string): void {
  printMessage(styled('red', 'error:', process.stderr), text);
}

function printMessage(kind: string, text: string): void {
  process.stderr.write(`${wrapped(`${kind} ${printableLines(text)}`, widthOf(process.stderr))}\n`);
}
