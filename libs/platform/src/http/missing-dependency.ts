import { DependencyUnavailableError } from '../dependency-unavailable.error.js';

// SQLSTATE classes of a server that cannot work just now: 08 connection, 53 resources, 57P0x shutting down or starting,
// 57014 statement cancelled by its time-out, 25006 a standby; and what the operating system says of a lost connection.
const CODES =
  /^(08\w{3}|53\w{3}|57P0\d|57014|25006|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EPIPE)$/;
// pg reports these without a code.
const MESSAGES = /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout)/i;

/**
 * Names the dependency that did not answer, when that is what an error says; undefined for every other error.
 * Errors of the Redis and NATS stores name it themselves, those of the SQL driver are known by their codes.
 */
export function missingDependency(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof DependencyUnavailableError) return error.dependency;
  if ('dependency' in error && typeof error.dependency === 'string') return error.dependency;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return CODES.test(code) || MESSAGES.test(error.message) ? 'postgres' : undefined;
}
