import { setTimeout as sleep } from 'node:timers/promises';
import type { AppProcess } from '#testing/app-process.js';

/** Asks /readyz of every app all the time, and remembers what was missing. */
export class ReadinessWatch {
  /** The names of all dependencies that were missing anywhere at any time. */
  readonly missing = new Set<string>();
  #over = false;
  readonly #loops: Promise<void>[];

  constructor(apps: readonly AppProcess[]) {
    this.#loops = apps.map((app) => this.#watch(app));
  }

  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#loops);
  }

  async #watch({ internalUrl }: AppProcess): Promise<void> {
    for (; !this.#over; await sleep(100)) {
      const answer = await fetch(`${internalUrl}/readyz`);
      const { missing = [] } = (await answer.json()) as { missing?: string[] };
      missing.forEach((name) => this.missing.add(name));
    }
  }
}

export async function untilReady(apps: readonly AppProcess[], withinMs: number): Promise<void> {
  const ready = async ({ internalUrl }: AppProcess) => (await fetch(`${internalUrl}/readyz`)).ok;
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(100))
    if ((await Promise.all(apps.map(ready))).every(Boolean)) return;
  throw new Error(`not ready within ${withinMs} ms`);
}
