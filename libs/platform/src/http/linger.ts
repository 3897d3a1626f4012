import { finished } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';

/** For how long the rest of a body is awaited that nobody will read. */
export const LINGER_MS = 1_000;

/**
 * Takes in what is left of a request before the answer that ends its connection, as after a body that is too large.
 * A connection that ends with bytes unread is reset, and the client or the proxy before it may lose the answer
 * (RFC 9112 9.6).
 */
export function linger(fastify: FastifyInstance): void {
  fastify.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete || reply.getHeader('connection') !== 'close') return;
    raw.resume();
    await finished(raw, { writable: false, signal: AbortSignal.timeout(LINGER_MS) }).catch(() => undefined);
  });
}
