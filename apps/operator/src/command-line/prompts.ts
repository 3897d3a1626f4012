import { createInterface } from 'node:readline/promises';
import { SingleBar } from 'cli-progress';
import { InputError } from './flags.js';

/** Asks for confirmation unless `yes` is set. @throws InputError without a terminal */
export async function confirmed(yes: boolean, question: string): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new InputError([`--yes is missing. ${question}`]);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** Progress bar on stderr; hidden if stderr is not a terminal. @param noun the counted things, like `grants revoked` */
export function progressBar(noun: string): { show(done: number, total: number): void; end(): void } {
  const bar = new SingleBar({
    format: `{bar} {percentage} %  {value} of {total} ${noun}, {eta_formatted} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    stream: process.stderr,
  });
  return {
    show(done, total) {
      if (!bar.isActive) bar.start(total, done);
      bar.setTotal(Math.max(total, done));
      bar.update(done);
    },
    end: () => bar.stop(),
  };
}

/** Limit in bytes; longer than any secret, even a set of 20 RSA keys. */
const READ_AT_MOST = 65_536;

export async function readSecretLine(
  option: string,
  what: string,
  input: NodeJS.ReadStream = process.stdin,
): Promise<string> {
  return (await readSecretText(option, what, input, '\n')).replace(/\r$/, '');
}

/** @throws InputError if the text is too long or not UTF-8, or if stdin is a terminal, which would show the secret */
export async function readSecretText(
  option: string,
  what: string,
  input: NodeJS.ReadStream = process.stdin,
  end?: string,
): Promise<string> {
  if (input.isTTY) throw new InputError([`${option} reads a pipe: … ${option} < file`]);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const at = end === undefined ? -1 : chunk.indexOf(end);
    chunks.push(at < 0 ? chunk : chunk.subarray(0, at));
    if (at >= 0) break;
    length += chunk.length;
    if (length > READ_AT_MOST)
      throw new InputError([`${what} on stdin is longer than ${READ_AT_MOST} bytes`]);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new InputError([`${what} on stdin is not valid UTF-8: convert it`]);
  }
}
