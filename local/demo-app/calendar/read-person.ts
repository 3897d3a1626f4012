import type { Person } from '../session/session.js';

/**
 * Reads the user from an answer of `/v2/me`.
 *
 * @throws Error if the answer has another shape
 */
export function readPerson(answer: unknown): Person {
  const { status, data } = (answer ?? {}) as { status?: unknown; data?: Record<string, unknown> };
  const { name, email, timeZone, timeFormat } = data ?? {};
  if (status !== 'success' || typeof name !== 'string' || (email !== null && typeof email !== 'string')) {
    throw new Error('the answer has another shape');
  }
  return {
    name,
    email,
    timeZone: typeof timeZone === 'string' && isTimeZone(timeZone) ? timeZone : 'UTC',
    timeFormat: timeFormat === 12 ? 12 : 24,
  };
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
