import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the check returns true without an error. The last check begins after the deadline. */
export async function until(
  what: string,
  withinMs: number,
  ask: () => Promise<boolean> | boolean,
): Promise<void> {
  let last: unknown;
  const end = Date.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const isLast = Date.now() >= end;
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
    if (isLast) throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last });
    await sleep(pauseMs);
  }
}
