import { createInterface } from 'node:readline/promises';
import { SingleBar } from 'cli-progress';
import { InputError } from './option-values.js';

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
