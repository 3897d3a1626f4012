import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedRequestError } from './refused-request.js';

/** Longer than scheduling delays on a busy machine, and shorter than the default RETRY_WINDOW of a refresh token. */
export const STALL_MS = 5_000;
const CHECK_MS = 500;
/** Milliseconds in which the process reads the requests that arrived during the stall. */
const CATCH_UP_MS = 1_000;
const STALLED = { headers: { 'Retry-After': '1' }, detail: { check: 'event_loop_stalled' } };

/**
 * Refuses requests that waited while the process was stopped, frozen with its container, or starved of CPU. The clients
 * of such requests may have retried at another instance, and a late refresh would look like token reuse (RFC 9700
 * 4.14.2) and revoke the grant. Only the timer sets `lastTurn`, because a turn of the event loop may serve requests for
 * seconds.
 *
 * @param now monotonic milliseconds
 */
export function stallRule(
  fastify: Pick<FastifyInstance, 'addHook'>,
  now: () => number = () => performance.now(),
): (request: Pick<FastifyRequest, 'method'>) => void {
  let lastTurn = now();
  let refuseUntil = 0;
  const timer = setInterval(() => {
    const time = now();
    if (time - lastTurn > STALL_MS) refuseUntil = time + CATCH_UP_MS;
    lastTurn = time;
  }, CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  return ({ method }) => {
    const time = now();
    // A request may run before the timer.
    const isStalled = time < refuseUntil || time - lastTurn > STALL_MS;
    // Exempts preflights, because a script cannot read the 503 after a failed preflight.
    if (isStalled && method !== 'OPTIONS')
      throw new RefusedRequestError(503, 'the event loop was stalled', STALLED);
  };
}
