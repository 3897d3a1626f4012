import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#testing/backing/free-port.js';
import { type GuardedProcess, startGuarded } from '#testing/backing/guarded-process.js';

export type AppName = 'authorize' | 'token' | 'resource';

/** An app that was just started, from dist, and may never be ready. */
export interface LaunchedApp {
  readonly internalUrl: string;
  readonly process: GuardedProcess;
  /** Everything it printed so far. */
  output(): string;
  /** The names that `/readyz` gives; undefined while nobody answers. */
  missing(): Promise<readonly string[] | undefined>;
  stop(): Promise<void>;
}

/** Starts an app's process and does not wait for anything. */
export async function launchApp(
  name: AppName,
  port: number,
  env: Readonly<Record<string, string>>,
): Promise<LaunchedApp> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const internalPort = await freePort();
  let output = '';
  const process_ = startGuarded({
    name,
    command: process.execPath,
    args: [resolve('dist', 'apps', name, 'src', 'main.js')],
    cwd: process.cwd(),
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      ...env,
    },
    logFile: join(folder, 'log'),
    onOutput: (text) => (output += text),
    signal: 'SIGTERM',
    // Less than OpenTelemetry waits for a collector, 10 s.
    grace: 8_000,
  });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  return {
    internalUrl,
    process: process_,
    output: () => output,
    async missing() {
      const answer = await fetch(`${internalUrl}/readyz`).catch(() => undefined);
      const { missing = [] } = ((await answer?.json()) ?? {}) as { missing?: string[] };
      return answer && missing;
    },
    async stop() {
      await process_.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asks again and again until it is so. */
export async function until(what: string, check: () => Promise<boolean>, within = 60_000): Promise<void> {
  for (const end = Date.now() + within; !(await check()); await sleep(50))
    if (Date.now() > end) throw new Error(`not within ${within / 1000} s: ${what}`);
}
