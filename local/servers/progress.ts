import { clearLine, cursorTo } from 'node:readline';

const PLAIN_EVERY_MS = 5_000;

/** @param transient true for a counter, which the next text replaces */
export type Progress = (text: string, transient?: boolean) => void;

/** Writes progress. Transient texts replace each other on a terminal; elsewhere, one is written every five seconds. */
export function progressOn(stream: NodeJS.WriteStream, now: () => number = Date.now): Progress {
  let replaceable = false;
  let written = now();
  return (text, transient = false) => {
    if (!stream.isTTY && transient && now() - written < PLAIN_EVERY_MS) return;
    if (replaceable) {
      cursorTo(stream, 0);
      clearLine(stream, 0);
    }
    replaceable = transient && stream.isTTY;
    written = now();
    stream.write(replaceable ? text : `${text}\n`);
  };
}
