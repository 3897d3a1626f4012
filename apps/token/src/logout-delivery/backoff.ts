import { DELIVERY_LIMIT_MS } from '#messaging/logout/logout-queue.js';

/** Delays between attempts. The last delay is repeated until the log-out is DELIVERY_LIMIT_MS old. */
const DELAYS_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 20 * 60_000] as const;

/**
 * Returns the milliseconds until the next attempt, or null if the log-out would then be too old.
 * @param deliveries number of deliveries by NATS; exceeds the number of attempts for a busy client, so the age also
 * limits the delay
 * @param ageMs milliseconds since the end of the session
 */
export function delayAfter(deliveries: number, ageMs: number): number | null {
  let index = 0;
  for (let due = DELAYS_MS[0] as number; due <= ageMs; due += DELAYS_MS[index] ?? Infinity) index += 1;
  const delay = DELAYS_MS[Math.min(index, deliveries - 1, DELAYS_MS.length - 1)] ?? 0;
  return ageMs + delay > DELIVERY_LIMIT_MS ? null : delay;
}

const BUSY_MS = { first: 5_000, last: 5 * 60_000 } as const;

/**
 * Returns the milliseconds until NATS redelivers a message of a busy client. The delay grows, because NATS redelivers
 * such messages before it delivers new messages of other clients. A random factor spreads the redeliveries.
 * @param random number from 0 to 1
 */
export function busyDelay(deliveries: number, random = Math.random()): number {
  return Math.round(Math.min(BUSY_MS.first * 2 ** (deliveries - 1), BUSY_MS.last) * (0.5 + random));
}
