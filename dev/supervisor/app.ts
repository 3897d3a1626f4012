import { mkdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '#testing/backing/free-port.js';
import { type GuardedProcess, startGuarded } from '#testing/backing/guarded-process.js';
import { lastLines } from '#testing/backing/started-service.js';
import { importantLines } from './app-log.js';
import { StartError } from './start.error.js';

/** One of the product's processes. */
export interface AppCommand {
  name: string;
  /** From the root of the repository or of its build, without extension. */
  main: string;
  port: number;
  /** Has `/readyz` on an internal port; otherwise it is ready when it accepts connections. */
  internal: boolean;
  env: NodeJS.ProcessEnv;
  /** Deleted at the end, however it comes about. */
  remove?: readonly string[];
}

/** A started app. */
export interface App {
  name: string;
  process: GuardedProcess;
  /** Where its health and metrics are, when it has them. */
  internalUrl?: string;
  /** Resolves when it serves. @throws StartError when it ends before, or takes longer than 60 s */
  ready(): Promise<void>;
  /** The last lines of its log. */
  tail(): Promise<string>;
}

const READY_WITHIN = 60_000;

/** Starts an app with its log in `<directory>/logs`; what matters of it is also shown. */
export async function startApp(
  app: AppCommand,
  directory: string,
  show: (line: string) => void,
): Promise<App> {
  const { name, port } = app;
  const logs = join(directory, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const logFile = join(logs, `${name}.log`);
  await rm(logFile, { force: true });
  const internalPort = app.internal ? await freePort() : undefined;
  // Built we are JavaScript and so is the app; tests run both from their sources.
  const main = new URL(`../../${app.main}${import.meta.url.slice(-3)}`, import.meta.url);
  const process_ = startGuarded({
    name,
    command: process.execPath,
    args: [...process.execArgv, fileURLToPath(main)],
    cwd: process.cwd(),
    env: { ...app.env, PORT: String(port), ...(internalPort ? { INTERNAL_PORT: String(internalPort) } : {}) },
    logFile,
    onOutput: importantLines(name, show),
    signal: 'SIGTERM',
    grace: 3_000,
    remove: app.remove ?? [],
  });
  const tail = async (): Promise<string> => lastLines(await readFile(logFile, 'utf8').catch(() => ''), 15);
  const check = internalPort ? () => answersReady(internalPort) : () => accepts(port);
  return {
    name,
    process: process_,
    ...(internalPort && { internalUrl: `http://127.0.0.1:${internalPort}` }),
    tail,
    async ready() {
      const over = new AbortController();
      const ended = process_.ended.then((how) => `it ended: ${how}`);
      const problem = await Promise.race([ended, until(check, over.signal)]);
      over.abort();
      if (problem)
        throw new StartError(`${name} did not start (${problem}). The end of ${logFile}:\n${await tail()}`);
    },
  };
}

async function until(check: () => Promise<boolean>, over: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + READY_WITHIN;
  while (!over.aborted && Date.now() < deadline) {
    if (await check()) return undefined;
    await sleep(50);
  }
  return `not ready within ${READY_WITHIN / 1_000} s`;
}

async function answersReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
