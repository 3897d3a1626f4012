import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks until the answer is yes; what fails counts as no. The last look begins after that time, however long a busy machine
 * stood still before.
 *
 * @throws after that many milliseconds
 */
export async function until(
  what: string,
  withinMs: number,
  ask: () => Promise<boolean> | boolean,
): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + withinMs; ; await sleep(50)) {
    const isLast = Date.now() >= end;
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
    if (isLast) throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last });
  }
}
