import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Styles text if the stream is a terminal. Respects NO_COLOR, FORCE_COLOR and TERM=dumb. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // `styleText` calls `getColorDepth` of the stream, a method that the streams of tests lack.
  return stream.isTTY ? styleText(style, text, { stream }) : text;
}

/** Styles text for Commander, which strips the style if the terminal does not support it. */
export const bold = (text: string): string => styleText('bold', text, { validateStream: false });
