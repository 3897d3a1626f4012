import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/**
 * Text in a style, where the stream is a terminal that shows it. Obeys NO_COLOR, FORCE_COLOR and TERM=dumb.
 *
 * @param stream that the text is written to
 */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // Node asks the stream for its colours; one that was replaced, as in tests, has none.
  return stream.isTTY ? styleText(style, text, { stream }) : text;
}

/** For Commander, which removes the style where the terminal does not show it. */
export const bold = (text: string): string => styleText('bold', text, { validateStream: false });
