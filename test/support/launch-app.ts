import path from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, startGuarded } from '#local/servers/guarded-process.js';
import { until } from './until.js';

export type AppName = 'authorize' | 'token' | 'resource';

/** Against a hang, not to measure. */
const READY_WITHIN_MS = 100_000;

export interface Launch {
  readonly name: AppName;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Also receives the log. */
  readonly onOutput?: (text: string) => void;
}

/** A started app, which may not be ready. */
export interface LaunchedApp {
  readonly internalUrl: string;
  readonly process: GuardedProcess;
  /** Resolves when it is ready. @throws if it exits before, or takes too long */
  ready(): Promise<void>;
}

/** Starts an app's process from dist (`npm run build`) with its default timeouts, without waiting for it. */
export async function launchApp({ name, port, env, logFile, onOutput }: Launch): Promise<LaunchedApp> {
  const internalPort = await freePort();
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const guarded = startGuarded({
    name,
    command: process.execPath,
    args: [path.resolve('dist', 'apps', `${name}.cjs`)],
    cwd: process.cwd(),
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      ...env,
    },
    logFile,
    ...(onOutput && { onOutput }),
    signal: 'SIGTERM',
    // Against a hang, not to measure.
    grace: 30_000,
  });
  const failed = guarded.ended.then((how) => Promise.reject(new Error(`${name} ended (${how})`)));
  failed.catch(() => undefined);
  return {
    internalUrl,
    process: guarded,
    ready: () =>
      Promise.race([
        failed,
        until(`${name} is ready`, READY_WITHIN_MS, async () => (await fetch(`${internalUrl}/readyz`)).ok),
      ]),
  };
}
