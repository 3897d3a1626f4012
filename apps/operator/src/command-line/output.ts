import { styled } from './style.js';
import { type Cell, tableLines } from './table.js';
import { hanging, widthOf, wrapped } from './wrap.js';

export interface JsonOption {
  json?: boolean | undefined;
}

/**
 * Whether the command line asks for JSON. Not what was parsed: an error may come before that.
 *
 * @param args those of the process
 */
export function wantsJson(args: readonly string[] = process.argv.slice(2)): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).includes('--json');
}

/** Prints `value` as JSON with --json, otherwise whatever `asText` prints. */
export function printResult({ json }: JsonOption, value: unknown, asText: () => void): void {
  if (json) printJson(value);
  else asText();
}

/**
 * Prints one JSON document. Escapes every character that could command a terminal, also those that JSON permits unescaped:
 * U+009B begins an escape sequence, U+202E reverses the direction of text.
 */
function printJson(value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  process.stdout.write(`${text.replaceAll(/[^\P{C}\n]/gu, escaped)}\n`);
}

/** Prints `value` as one line of JSON, for commands that print many. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(jsonLine(value));
}

/** One line of JSON, with the escapes of `printJson`. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`;
}

/** JSON with the escapes of `printJson`, without a line break. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\p{C}/gu, escaped);
}

/** JSON escape sequence of a character: two code units for one beyond U+FFFF. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');

/** Prints text for people, wrapped at the width of the terminal. */
export function printLine(text = ''): void {
  printRaw(wrapped(text, widthOf(process.stdout)));
}

/** Prints text that is read by a program, or copied as a whole. */
export function printRaw(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints one name and value per line, with the values aligned. Replaces control characters. */
export function printFields(fields: Readonly<Record<string, string>>): void {
  const lines = Object.entries(fields).map((line) => line.map(printable) as [string, string]);
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines)
    printRaw(
      hanging(`${styled('bold', name)}${' '.repeat(width - name.length)}  `, value, widthOf(process.stdout)),
    );
}

/**
 * Prints rows below a heading, as wide as the terminal; in full where the output is no terminal. Replaces control characters.
 *
 * @param heading names of the columns, as in the JSON of the command
 */
export function printTable(heading: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const clean = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? printable(cell) : { ...cell, text: printable(cell.text) })),
  );
  for (const line of tableLines(heading, clean, widthOf(process.stdout))) printRaw(line);
}

/** Replaces control characters of untrusted text, which must not reach the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\uFFFD');
}

/** As printable, for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** `1 grant`, `2 grants`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Writes a warning to stderr, so that stdout holds the result only. Replaces control characters. */
export function warn(text: string): void {
  printMessage(styled('yellow', 'warning:', process.stderr), text);
}

/** Writes an error to stderr. Replaces control characters. */
export function printError(text: string): void {
  printMessage(styled('red', 'error:', process.stderr), text);
}

function printMessage(kind: string, text: string): void {
  process.stderr.write(`${wrapped(`${kind} ${printableLines(text)}`, widthOf(process.stderr))}\n`);
}
