/**
 * Writes one JSON document, the only thing on stdout with --json. What could command a terminal and JSON leaves as it is (U+009B begins
 * an escape sequence, U+202E turns the direction) is written by its code.
 */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  process.stdout.write(`${text.replaceAll(/[^\P{C}\n]/gu, escaped)}\n`);
}

/** Of one character: two codes for one beyond U+FFFF. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Writes names and values below each other, the values aligned. */
export function printFields(fields: Readonly<Record<string, string>>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) printLine(`${name.padEnd(width)}  ${value}`);
}

/** Writes rows below a heading, in columns as wide as they need. */
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

/** `1 grant`, `2 grants`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A remark that is no part of the answer. */
export function warn(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}
