import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is yes; what fails counts as no. @throws after that many milliseconds */
export async function until(
  what: string,
  withinMs: number,
  ask: () => Promise<boolean> | boolean,
): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(50)) {
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last });
}
