import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#testing/backing/free-port.js';
import { startGuarded } from '#testing/backing/guarded-process.js';

const READY_WITHIN_MS = 60_000;

/** One copy of an app, as it is deployed. */
export interface App {
  readonly name: 'authorize' | 'token' | 'resource';
  readonly internalUrl: string;
  stop(): Promise<void>;
}

/** Starts an app from dist. Its log goes to a file, as a container's does: what it costs to write it is part of the figures. */
export async function startApp(
  name: App['name'],
  port: string,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<App> {
  const internalPort = await freePort();
  const running = startGuarded({
    name,
    command: process.execPath,
    args: [resolve('dist', 'apps', name, 'src', 'main.js')],
    cwd: process.cwd(),
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: port,
      INTERNAL_PORT: String(internalPort),
      ...env,
    },
    logFile: resolve(folder, `${name}.log`),
    signal: 'SIGTERM',
    grace: 5_000,
  });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const ended = running.ended.then((how) => Promise.reject(new Error(`${name} ended: ${how}`)));
  ended.catch(() => undefined);
  await Promise.race([ended, untilReady(`${internalUrl}/readyz`)]);
  return { name, internalUrl, stop: () => running.stop() };
}

async function untilReady(url: string): Promise<void> {
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(50)) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`${url} was not ready within ${READY_WITHIN_MS / 1000} s`);
}
