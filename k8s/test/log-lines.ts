import { setTimeout as sleep } from 'node:timers/promises';
import type { Ingress } from './nginx.js';

/** Waits for this many lines in the log: nginx writes them after its answers. */
export async function lines(ingress: Ingress, atLeast: number): Promise<string[]> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) {
    const all = (await ingress.logs()).split('\n').filter(Boolean);
    if (all.length >= atLeast) return all;
  }
  throw new Error(`nginx did not write ${atLeast} lines`);
}
