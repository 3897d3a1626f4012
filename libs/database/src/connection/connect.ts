import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailableError } from './database-unavailable.error.js';

/** What `connect` needs of a data source. */
interface Connectable {
  initialize(): Promise<unknown>;
}

// Conditions that pass by themselves: 57P0x starting up or shutting down, 53300 too many connections,
// 08xxx connection lost, and what the operating system says while a server or its name is not there yet.
const PASSING =
  /^(57P0[1-3]|53300|08...|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENOENT|EPIPE)$/;

/**
 * Connects, retrying with a doubling delay (100 ms up to 5 s) while the failure may pass by itself: services
 * start in any order. A wrong password or a missing database fails at once.
 *
 * @param retryForMs how long to keep trying, in milliseconds; 0 tries once
 * @throws DatabaseUnavailableError
 */
export async function connect<T extends Connectable>(
  source: T,
  databaseUrl: string,
  retryForMs: number,
): Promise<T> {
  const deadline = performance.now() + retryForMs;
  for (let delay = 100; ; delay = Math.min(delay * 2, 5_000)) {
    try {
      await source.initialize();
      return source;
    } catch (cause) {
      if (!mayPass(cause) || performance.now() + delay > deadline) {
        throw new DatabaseUnavailableError(databaseUrl, cause);
      }
    }
    await sleep(delay);
  }
}

/** Whether trying again may help, with nobody doing anything. */
export function mayPass(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  // pg reports its own connect time-out and a closed socket without a code.
  return code === undefined ? /timeout|terminated/i.test(message ?? '') : PASSING.test(code);
}
