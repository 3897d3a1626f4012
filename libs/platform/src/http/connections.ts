import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Limit of pipelined requests per connection. Client libraries and proxies do not pipeline. */
export const MAX_PIPELINED = 32;

/**
 * Closes a connection with too many pipelined requests, because Node would dispatch a burst of tens of thousands of
 * small requests before it serves another connection. Clients retry (RFC 9112 9.3.2). `maxRequestsPerSocket` would also
 * end busy connections without pipelining.
 */
export function limitPipelining({ server }: FastifyInstance, logger: Logger): void {
  const waiting = new WeakMap<Socket, number>();
  const [framework] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request').on('request', (request, response) => {
    // Only a response behind a pending response has no socket. Without pipelining, this comparison is the only cost.
    if (response.socket !== null) return framework(request, response);
    const { socket } = request;
    if (socket.destroyed) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED) {
      socket.destroy();
      logger.warn(`closed a connection with more than ${MAX_PIPELINED} requests waiting for a response`);
      return;
    }
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    framework(request, response);
  });
}

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
