import { setTimeout as sleep } from 'node:timers/promises';
import type { AppProcess } from '#testing/app-process.js';
import { until } from '#testing/topology/until.js';

/** Asks /readyz of every app all the time, and remembers what was missing. */
export class ReadinessWatch {
  /** The names of all dependencies that were missing anywhere at any time. */
  readonly missing = new Set<string>();
  private over = false;
  private readonly loops: Promise<void>[];

  constructor(apps: readonly AppProcess[]) {
    this.loops = apps.map((app) => this.watch(app));
  }

  async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.loops);
  }

  private async watch({ internalUrl }: AppProcess): Promise<void> {
    for (; !this.over; await sleep(100)) {
      // What is wrong with the process itself others see.
      const answer = await fetch(`${internalUrl}/readyz`).catch(() => undefined);
      const { missing = [] } = ((await answer?.json().catch(() => undefined)) ?? {}) as {
        missing?: string[];
      };
      missing.forEach((name) => this.missing.add(name));
    }
  }
}

export async function untilReady(apps: readonly AppProcess[], withinMs: number): Promise<void> {
  await until('every app is ready', withinMs, async () => {
    const answers = await Promise.all(apps.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
    return answers.every(({ ok }) => ok);
  });
}
