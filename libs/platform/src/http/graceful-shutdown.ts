import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Grace period for requests already in flight on keep-alive connections. */
const GRACE_MS = 250;
/** How long the rest of an unread body may take before its connection is closed. */
export const UNREAD_BODY_MS = 1_000;

/**
 * Ends each connection with the answer to its last request once the app is closing; a connection that stayed open for a next
 * request would keep the process alive until it is killed. Idle connections stay open for a grace period first, as closing
 * them would lose a request on its way. Requests that do not end are cut off: closing ends the server's own time limits.
 *
 * @param requestMs within which a request must arrive, in milliseconds
 */
export function closeConnectionsGracefully(fastify: FastifyInstance, requestMs: number): void {
  let closing = false;
  fastify.addHook('preClose', async () => {
    closing = true;
    setTimeout(() => fastify.server.closeAllConnections(), GRACE_MS + requestMs).unref();
    if ((await countConnections(fastify)) > 0) await sleep(GRACE_MS);
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

function countConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/**
 * Reads the rest of a request before an answer that closes its connection, such as the answer to a body that is too large. A
 * connection that closes with unread bytes is reset, and the client, or a proxy before it, may lose the answer
 * (RFC 9112 9.6).
 */
export function readBodyBeforeClose(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (raw.complete || reply.getHeader('connection') !== 'close') {
      done(null, payload);
      return;
    }
    raw.resume();
    const rest = finished(raw, { writable: false, signal: AbortSignal.timeout(UNREAD_BODY_MS) });
    rest.catch(() => undefined).finally(() => done(null, payload));
  });
}
