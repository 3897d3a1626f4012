import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

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
