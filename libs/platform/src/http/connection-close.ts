import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';

const GRACE_MS = 250;
export const UNREAD_BODY_MS = 1_000;

/**
 * Delays the shutdown briefly if connections are open, because a request may be in flight on an idle connection.
 * Closing disables the server's time limits, so this function closes the remaining connections `requestMs` later.
 *
 * @returns a predicate that is true while the app closes, when each response must end its connection
 */
export function closeConnectionsGracefully(fastify: FastifyInstance, requestMs: number): () => boolean {
  let closing = false;
  fastify.addHook('preClose', async () => {
    closing = true;
    setTimeout(() => fastify.server.closeAllConnections(), GRACE_MS + requestMs).unref();
    if ((await countConnections(fastify)) > 0) await sleep(GRACE_MS);
  });
  return () => closing;
}

function countConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/** Returns true if closing the connection would reset it, so that the client may lose the response (RFC 9112 9.6). */
export function hasUnreadBody({ complete }: IncomingMessage, reply: FastifyReply): boolean {
  return !complete && !(reply.raw.shouldKeepAlive && reply.getHeader('connection') !== 'close');
}

/** Discards the rest of a body, for at most `UNREAD_BODY_MS`. */
export async function readRest(request: IncomingMessage): Promise<void> {
  request.resume();
  const signal = AbortSignal.timeout(UNREAD_BODY_MS);
  await finished(request, { writable: false, signal }).catch(() => undefined);
}
