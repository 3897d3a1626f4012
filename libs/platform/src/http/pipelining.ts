import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** Limit of pipelined requests per connection. Client libraries and proxies do not pipeline. */
export const MAX_PIPELINED = 32;

/**
 * Closes a connection with too many pipelined requests. Node parses all bytes that it has read and dispatches every
 * request before it serves another connection; a single burst can contain tens of thousands of small requests.
 * `maxRequestsPerSocket` would also end busy connections. "A client that pipelines requests SHOULD retry unanswered
 * requests if the connection closes" (RFC 9112 9.3.2).
 */
export function limitPipelining({ server }: FastifyInstance, logger: Logger): void {
  const waiting = new WeakMap<Socket, number>();
  const [framework] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request').on('request', (request, response) => {
    // A response has a socket unless an earlier response is pending: without pipelining this comparison is the only
    // cost.
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
