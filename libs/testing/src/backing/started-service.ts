import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import type { GuardedProcess } from './guarded-process.js';

/** A backing service that answers. */
export interface BackingService {
  url: string;
  process: GuardedProcess;
}

/** One attempt at a service: its process on this port, and a check that resolves when it serves our user. */
export interface Attempt {
  url: string;
  process: GuardedProcess;
  connect(): Promise<void>;
}

/**
 * Starts a server on a free port and waits until it answers, at most 30 seconds. The port may be taken between its choice
 * and its use, so that an early end is tried again; the third one is an error with the last lines of the log.
 */
export async function startService(
  name: string,
  logFile: string,
  attempt: (port: number) => Promise<Attempt>,
): Promise<BackingService> {
  let reason = '';
  for (let tries = 0; tries < 3; tries += 1) {
    const { url, process, ...checks } = await attempt(await freePort());
    const outcome = await Promise.race([
      process.ended.then((how) => `it ended: ${how}`),
      answers(process, () => checks.connect()),
    ]);
    if (outcome === undefined) return { url, process };
    reason = outcome;
    await process.stop();
  }
  const log = await readFile(logFile, 'utf8').catch(() => '');
  throw new Error(`${name} did not start (${reason}). The end of ${logFile}:\n${lastLines(log, 12)}`);
}

async function answers(process: GuardedProcess, connect: () => Promise<void>): Promise<string | undefined> {
  const deadline = Date.now() + 30_000;
  let ended = false;
  let last: unknown;
  void process.ended.then(() => (ended = true));
  while (!ended && Date.now() < deadline) {
    try {
      await connect();
      return undefined;
    } catch (error) {
      last = error;
      await sleep(25);
    }
  }
  return `no answer in 30 s: ${String(last)}`;
}

/** The last lines of a text. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
