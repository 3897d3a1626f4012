import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { type AppName, launchApp } from './launch-app.js';
import { PATIENT_ENVIRONMENT } from './patience.js';

export interface AppProcess {
  readonly url: string;
  readonly internalUrl: string;
  readonly pid: number;
  /** Everything it printed so far. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Runs an app and resolves when it is ready: how an app's tests have another app beside them without importing it.
 *
 * @param at its port; a free one if absent
 */
export async function startApp(
  name: AppName,
  env: Readonly<Record<string, string>>,
  at?: number,
): Promise<AppProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), `${name}-`));
  const port = at ?? (await freePort());
  let output = '';
  const onOutput = (text: string) => (output += text);
  const logFile = path.join(folder, 'log');
  const app = await launchApp({ name, port, env: { ...PATIENT_ENVIRONMENT, ...env }, logFile, onOutput });
  await app.ready().catch((error: Error) => {
    throw new Error(`${error.message}:\n${output}`, { cause: error });
  });
  const stop = async () => {
    await app.process.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: `http://127.0.0.1:${port}`,
    internalUrl: app.internalUrl,
    pid: app.process.pid,
    output: () => output,
    stop,
  };
}
