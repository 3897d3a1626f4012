import type { FastifyInstance } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';

/** Longer than a busy machine keeps a process from its turn; shorter than the retry window of a refresh token. */
export const STALL_MS = 5_000;
const BEAT_MS = 500;
/** Until what arrived meanwhile has been read. */
const CATCH_UP_MS = 1_000;

/**
 * Refuses what waited while the process stood still: stopped by a signal, frozen with its container, or without a turn. Its
 * client has given up and repeated it at another copy. Carried out this late, a refresh whose repetition was answered looks like
 * the reuse of its token (RFC 9700 4.14.2) and would log the user out.
 *
 * @param now milliseconds of a monotonic clock
 */
export function refuseAfterStall(
  fastify: Pick<FastifyInstance, 'addHook'>,
  now: () => number = () => performance.now(),
): void {
  let [lastTurn, refusingUntil] = [now(), 0];
  const turn = () => {
    const time = now();
    if (time - lastTurn > STALL_MS) refusingUntil = time + CATCH_UP_MS;
    lastTurn = time;
  };
  const beat = setInterval(turn, BEAT_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(beat));
  fastify.addHook('onRequest', async () => {
    // Which of the two comes first after a stall, the timer or a request, is up to chance.
    turn();
    if (lastTurn < refusingUntil) throw OAuthError.unavailable({ detail: { check: 'process stood still' } });
  });
}
