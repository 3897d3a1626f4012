import { clearLine, cursorTo } from 'node:readline';

const PLAIN_EVERY_MS = 5_000;

/**
 * Tells a person what takes time.
 *
 * @param passing whether the text only says how far it is, so that the next one replaces it
 */
export type Progress = (text: string, passing?: boolean) => void;

/** Progress on a stream: passing texts replace each other on a terminal; elsewhere one is written every five seconds. */
export function progressOn(stream: NodeJS.WriteStream, now: () => number = Date.now): Progress {
  let replaceable = false;
  let written = now();
  return (text, passing = false) => {
    if (!stream.isTTY && passing && now() - written < PLAIN_EVERY_MS) return;
    if (replaceable) {
      cursorTo(stream, 0);
      clearLine(stream, 0);
    }
    replaceable = passing && stream.isTTY;
    written = now();
    stream.write(replaceable ? text : `${text}\n`);
  };
}
