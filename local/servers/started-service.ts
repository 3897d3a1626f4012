import type { FoundServer } from './find-server.js';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import type { GuardedProcess } from './guarded-process.js';

export type BackingServer = Extract<FoundServer['name'], 'postgres' | 'redis-server' | 'nats-server'>;

export interface ServiceOptions {
  directory: string;
  /** False for fast, unsafe settings in a temporary folder. */
  persistent: boolean;
  find(server: BackingServer, folder: string): Promise<FoundServer[]>;
}

const HANGS = 'no answer in 60 s';

export interface BackingService {
  url: string;
  process: GuardedProcess;
}

/** `connect` resolves when the server accepts our credentials. */
interface Attempt {
  url: string;
  process: GuardedProcess;
  connect(): Promise<void>;
}

/** Retries an early exit twice: another program may take the port before the server does. @throws Error with the end of the log */
export async function startService(
  name: string,
  logFile: string,
  attempt: (port: number) => Promise<Attempt>,
): Promise<BackingService> {
  let reason = '';
  const failed: GuardedProcess[] = [];
  const stopFailed = async (): Promise<void> => {
    await Promise.all(failed.map((process) => process.stop()));
  };
  for (let tries = 0; tries < 3; tries += 1) {
    const { url, process, ...checks } = await attempt(await freePort());
    const over = new AbortController();
    const early = process.ended.then((how) => `it ended: ${how}`);
    const problem = await Promise.race([early, answers(() => checks.connect(), over.signal)]);
    over.abort();
    if (problem === undefined) {
      const stop = async (): Promise<void> => void (await Promise.all([process.stop(), stopFailed()]));
      return { url, process: { pid: process.pid, ended: process.ended, stop } };
    }
    reason = problem;
    failed.push(process);
    if (problem === HANGS) break;
  }
  const log = await readFile(logFile, 'utf8').catch(() => '');
  await stopFailed();
  throw new Error(`${name} did not start (${reason}). The end of ${logFile}:\n${lastLines(log, 12)}`);
}

async function answers(connect: () => Promise<void>, over: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + 60_000;
  while (!over.aborted && Date.now() < deadline) {
    try {
      await connect();
      return undefined;
    } catch {
      await sleep(25);
    }
  }
  return HANGS;
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
