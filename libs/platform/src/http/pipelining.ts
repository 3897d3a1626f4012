import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** Requests that may wait behind an unfinished answer of their connection. Client libraries and proxies send none. */
export const MAX_PIPELINED = 32;

/**
 * Closes a connection on which more requests wait for the answer to an earlier one. Node parses everything that it has read and
 * hands over each request before any other connection gets its turn: tens of thousands of small requests fit into one burst, and
 * `maxRequestsPerSocket` would end busy connections too. "A client that pipelines requests SHOULD retry unanswered requests if
 * the connection closes" (RFC 9112 9.3.2).
 */
export function limitPipelining({ server }: FastifyInstance, logger: Logger): void {
  const waiting = new WeakMap<Socket, number>();
  const [framework] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request').on('request', (request, response) => {
    // A response has its socket as soon as no other is before it: a client that waits for each answer costs this comparison.
    if (response.socket !== null) return framework(request, response);
    const { socket } = request;
    if (socket.destroyed) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED) {
      socket.destroy();
      logger.warn(`closed a connection with more than ${MAX_PIPELINED} requests waiting for an answer`);
      return;
    }
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    framework(request, response);
  });
}
