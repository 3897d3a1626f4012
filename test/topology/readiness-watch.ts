import { setTimeout as sleep } from 'node:timers/promises';
import type { AppProcess } from '../support/app-process.js';
import { until } from '../support/until.js';

export class ReadinessWatch {
  readonly missing = new Set<string>();
  private stopped = false;
  private readonly loops: Promise<void>[];

  constructor(apps: readonly AppProcess[]) {
    this.loops = apps.map((app) => this.watch(app));
  }

  async end(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.loops);
  }

  private async watch(app: AppProcess): Promise<void> {
    for (; !this.stopped; await sleep(100)) {
      // Ignores an app that does not respond, which other tests cover.
      const missing = await app.missing().catch(() => undefined);
      missing?.forEach((name) => this.missing.add(name));
    }
  }
}

export async function untilReady(apps: readonly AppProcess[], withinMs: number): Promise<void> {
  await until('every app is ready', withinMs, async () => {
    const answers = await Promise.all(apps.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
    return answers.every(({ ok }) => ok);
  });
}
