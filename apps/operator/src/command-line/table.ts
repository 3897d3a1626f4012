import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { hanging } from './wrap.js';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Styles text if the stream is a terminal. Respects NO_COLOR, FORCE_COLOR and TERM=dumb. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // `styleText` calls `getColorDepth` of the stream, a method that the streams of tests lack.
  return stream.isTTY ? styleText(style, text, { stream }) : text;
}

/** Styles text for Commander, which strips the style if the terminal does not support it. */
export const bold = (text: string): string => styleText('bold', text, { validateStream: false });

export type Cell = string | { readonly text: string; readonly style: Style };

const GAP = 2;
/** Columns whose values are copied, and therefore never shortened. */
const COPIED = /(?:^|_)(?:id|reference|fingerprint|url|address)$/;
/** A date or a time, which would be wrong if shortened. */
const TIME = /^(?:\d{4}-)?\d\d[-:]\d\d/;
/** Minimum width of a shortened column, unless its heading is wider. */
const NARROWEST = 10;

/**
 * Shortens the widest columns, but never copied values or times. If a row still does not fit, returns a block per row.
 */
export function tableLines(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns: number,
): string[] {
  const natural = heading.map((name, column) =>
    Math.max(stringWidth(name), ...rows.map((row) => stringWidth(textOf(row[column])))),
  );
  const isWhole = heading.map(
    (name, column) => COPIED.test(name) || rows.some((row) => TIME.test(textOf(row[column]))),
  );
  const widths = fitted(heading, natural, isWhole, columns);
  if (!widths) return rows.flatMap((row, at) => (at === 0 ? [] : ['']).concat(block(heading, row, columns)));
  const line = (row: readonly Cell[], style?: Style) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        const text = shortened(textOf(cell), width);
        const rest = column === row.length - 1 ? '' : ' '.repeat(width - stringWidth(text) + GAP);
        return inStyle(text, style ?? styleOf(cell)) + rest;
      })
      .join('')
      .trimEnd();
  return [line(heading, 'bold'), ...rows.map((row) => line(row))];
}

function fitted(
  heading: readonly string[],
  natural: readonly number[],
  isWhole: readonly boolean[],
  columns: number,
): number[] | null {
  const least = heading.map((name, column) => {
    const width = natural[column] ?? 0;
    return isWhole[column] ? width : Math.min(width, Math.max(NARROWEST, stringWidth(name)));
  });
  const free = columns - GAP * (heading.length - 1);
  if (sum(least) > free) return null;
  const widths = [...natural];
  while (sum(widths) > free) {
    const spare = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function block(heading: readonly string[], row: readonly Cell[], columns: number): string[] {
  const width = Math.max(...heading.map((name) => stringWidth(name)));
  return row.flatMap((cell, column) => {
    if (textOf(cell) === '') return [];
    const name = heading[column] ?? '';
    const padding = ' '.repeat(width - stringWidth(name) + GAP);
    return hanging(inStyle(name, 'bold') + padding, inStyle(textOf(cell), styleOf(cell)), columns).trimEnd();
  });
}

function shortened(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let short = '';
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    if (stringWidth(short + segment) > width - 1) break;
    short += segment;
  }
  return `${short}…`;
}

const textOf = (cell: Cell = ''): string => (typeof cell === 'string' ? cell : cell.text);

const styleOf = (cell: Cell): Style | undefined => (typeof cell === 'string' ? undefined : cell.style);

const inStyle = (text: string, style: Style | undefined): string => (style ? styled(style, text) : text);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
