import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, startGuarded } from '#local/servers/guarded-process.js';
import { NODE_ARGUMENTS } from './built.js';
import { PATIENT_ENVIRONMENT } from './app-settings.js';
import { withCredentials } from './process-credentials.js';
import { until } from './until.js';

export type AppName = 'authorize' | 'token' | 'resource';

/** Timeout for hanging processes. */
const READY_WITHIN_MS = 100_000;

export interface AppProcess {
  readonly name: AppName | 'console' | 'developers';
  readonly url: string;
  readonly internalUrl: string;
  readonly process: GuardedProcess;
  output(): string;
  /** Returns the missing dependencies in `/readyz`; undefined if the app does not respond. */
  missing(): Promise<readonly string[] | undefined>;
  /** @throws Error if the app exits, or is not ready in time */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  /** A free port by default. */
  readonly port?: number;
  /** A temporary file by default. */
  readonly logFile?: string;
  readonly onOutput?: (text: string) => void;
  /** False to keep the default timeouts, for tests with unresponsive servers. */
  readonly patient?: boolean;
}

/** Starts an app from dist (`npm run build`). Does not wait until it is ready. */
export async function launchApp(
  name: AppName | 'console' | 'developers',
  env: Readonly<Record<string, string>>,
  { port: given, logFile, onOutput, patient = true }: Options = {},
): Promise<AppProcess> {
  const [port, internalPort] = [given ?? (await freePort()), await freePort()];
  const folder = logFile === undefined ? await mkdtemp(path.join(tmpdir(), `${name}-`)) : null;
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  let output = '';
  const receive = onOutput ?? (folder === null ? undefined : (text: string) => (output += text));
  const guarded = startGuarded({
    name,
    command: process.execPath,
    args: [...NODE_ARGUMENTS, path.resolve('dist', 'apps', `${name}.cjs`)],
    cwd: process.cwd(),
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      ...(patient && PATIENT_ENVIRONMENT),
      ...withCredentials(name, env),
    },
    logFile: logFile ?? path.join(folder ?? '', 'log'),
    // Without a callback, the process itself writes to the log file.
    ...(receive && { onOutput: receive }),
    signal: 'SIGTERM',
    // Milliseconds, for hanging processes.
    grace: 30_000,
  });
  const failed = guarded.ended.then((how) => Promise.reject(new Error(`${name} ended (${how}):\n${output}`)));
  failed.catch(() => undefined);
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    internalUrl,
    process: guarded,
    output: () => output,
    async missing() {
      const answer = await fetch(`${internalUrl}/readyz`).catch(() => undefined);
      const { missing = [] } = ((await answer?.json()) ?? {}) as { missing?: string[] };
      return answer && missing;
    },
    ready: () =>
      Promise.race([
        failed,
        until(`${name} is ready`, READY_WITHIN_MS, async () => (await fetch(`${internalUrl}/readyz`)).ok),
      ]),
    async stop() {
      await guarded.stop();
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function startApp(
  name: AppName | 'console' | 'developers',
  env: Readonly<Record<string, string>>,
  options?: Options,
): Promise<AppProcess> {
  const app = await launchApp(name, env, options);
  await app.ready();
  return app;
}
