import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GuardedProcess } from '#local/servers/guarded-process.js';
import { type AppName, launchApp as launch } from '../support/launch-app.js';
import { PATIENT_ENVIRONMENT } from '../support/patience.js';

export type { AppName };

/** A started app, which may not be ready. */
export interface LaunchedApp {
  readonly internalUrl: string;
  readonly process: GuardedProcess;
  /** Everything it printed so far. */
  output(): string;
  /** The missing dependencies in `/readyz`; undefined without an answer. */
  missing(): Promise<readonly string[] | undefined>;
  stop(): Promise<void>;
}

/** Starts an app's process without waiting for it. */
export async function launchApp(
  name: AppName,
  port: number,
  env: Readonly<Record<string, string>>,
): Promise<LaunchedApp> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  let output = '';
  const onOutput = (text: string) => (output += text);
  const logFile = join(folder, 'log');
  const app = await launch({ name, port, env: { ...PATIENT_ENVIRONMENT, ...env }, logFile, onOutput });
  return {
    internalUrl: app.internalUrl,
    process: app.process,
    output: () => output,
    async missing() {
      const answer = await fetch(`${app.internalUrl}/readyz`).catch(() => undefined);
      const { missing = [] } = ((await answer?.json()) ?? {}) as { missing?: string[] };
      return answer && missing;
    },
    async stop() {
      await app.process.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
