export interface JsonOption {
  json?: boolean | undefined;
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

/** JSON escape sequence of a character: two code units for one beyond U+FFFF. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Prints one name and value per line, with the values aligned. */
export function printFields(fields: Readonly<Record<string, string>>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) printLine(`${name.padEnd(width)}  ${value}`);
}

/** Prints rows below a heading, in columns as wide as their longest cell. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  for (const row of all)
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

/** Replaces control characters of untrusted text, which must not reach the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\uFFFD');
}

/** `1 grant`, `2 grants`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Writes a warning to stderr, so that stdout holds the result only. */
export function warn(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}
