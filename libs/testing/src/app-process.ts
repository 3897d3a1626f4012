import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './backing/free-port.js';
import { startGuarded } from './backing/guarded-process.js';

export interface AppProcess {
  readonly url: string;
  readonly internalUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/**
 * Runs an app as it is deployed, from dist (`npm run build`), and resolves when it is ready: how an app's tests have
 * another app beside them without importing it.
 */
export async function startApp(
  name: 'authorize' | 'token' | 'resource',
  env: Readonly<Record<string, string>>,
): Promise<AppProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), `${name}-`));
  const [port, internalPort] = [await freePort(), await freePort()];
  let output = '';
  const guarded = startGuarded({
    name,
    command: process.execPath,
    args: [path.resolve('dist', 'apps', name, 'src', 'main.js')],
    cwd: process.cwd(),
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      ...env,
    },
    logFile: path.join(folder, 'log'),
    onOutput: (text) => (output += text),
    signal: 'SIGTERM',
    grace: 5_000,
  });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const failed = guarded.ended.then((how) => Promise.reject(new Error(`${name} ended (${how}):\n${output}`)));
  failed.catch(() => undefined);
  await Promise.race([failed, untilReady(`${internalUrl}/readyz`)]);
  const stop = async () => {
    await guarded.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${port}`, internalUrl, pid: guarded.pid, stop };
}

async function untilReady(url: string): Promise<void> {
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(50)) {
    const ready = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
  }
  throw new Error(`${url} was not ready within ${READY_WITHIN_MS / 1000} s`);
}
