import type { FoundServer } from './find-server.js';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import type { GuardedProcess } from './guarded-process.js';

export type BackingServer = Extract<FoundServer['name'], 'postgres' | 'redis-server' | 'nats-server'>;

export interface ServiceOptions {
  directory: string;
  /** False to use a temporary folder, and settings that are fast but may lose data. */
  persistent: boolean;
  find(server: BackingServer, folder: string): Promise<FoundServer[]>;
}

const READINESS_DEADLINE_MS = 60_000;
const POLL_MS = 25;
const NOT_READY = `not ready within ${READINESS_DEADLINE_MS / 1_000} s`;

export interface BackingService {
  url: string;
  process: GuardedProcess;
}

/** Started process. `connect` resolves when the server accepts the generated credentials. */
interface Attempt {
  url: string;
  process: GuardedProcess;
  connect(): Promise<void>;
}

/**
 * Retries twice after an early exit, because another program may have taken the port.
 * @throws Error with the end of the log
 */
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
    const problem = await problemOfStart(process, () => checks.connect());
    if (problem === undefined) {
      const stop = async (): Promise<void> => void (await Promise.all([process.stop(), stopFailed()]));
      return { url, process: { pid: process.pid, ended: process.ended, stop } };
    }
    reason = problem;
    failed.push(process);
    if (problem === NOT_READY) break;
  }
  const log = await readFile(logFile, 'utf8').catch(() => '');
  await stopFailed();
  throw new Error(`${name} did not start (${reason}). The end of ${logFile}:\n${lastLines(log, 12)}`);
}

/** Polls until `check` resolves. @returns the problem if the process ends, or is not ready within 60 s */
export async function problemOfStart(
  process: GuardedProcess,
  check: () => Promise<void>,
): Promise<string | undefined> {
  const ended = process.ended.then((how) => `it ended: ${how}`);
  const ready = () =>
    check().then(
      () => undefined,
      () => NOT_READY,
    );
  for (const deadline = Date.now() + READINESS_DEADLINE_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const problem = await Promise.race([ended, ready()]);
    if (problem !== NOT_READY) return problem;
  }
  return NOT_READY;
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
