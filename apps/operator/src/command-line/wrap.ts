import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;

/** Minimum number of columns for wrapped text. */
const NARROWEST = 20;
/** A line with a command, which is copied and therefore not wrapped. */
const COMMAND = /^ *(?:\$ )?(?:npx )?operator [a-z]/;

/** Returns Infinity if the output is not a terminal. */
export function widthOf({ isTTY, columns }: Output): number {
  return isTTY && columns ? columns : Infinity;
}

/** Wraps each line at its own indentation. Commands, which may continue after a backslash, are not wrapped. */
export function wrapped(text: string, columns: number): string {
  let continues = false;
  return text
    .split('\n')
    .map((line) => {
      const isCommand = continues || COMMAND.test(line);
      continues = isCommand && line.endsWith('\\');
      if (isCommand) return line;
      const indentation = /^ */.exec(line)?.[0] ?? '';
      return hanging(indentation, line.slice(indentation.length), columns);
    })
    .join('\n');
}

export function hanging(prefix: string, text: string, columns: number): string {
  const indent = stringWidth(prefix);
  const free = columns - indent;
  if (stringWidth(text) <= free || free < NARROWEST) return prefix + text;
  return prefix + wrapAnsi(text, free).replaceAll('\n', `\n${' '.repeat(indent)}`);
}
