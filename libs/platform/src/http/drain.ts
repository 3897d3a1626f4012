import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** In which time a client that has a connection for its next request sends it, if it was sending it just now. */
const LAST_REQUESTS_MS = 250;

/**
 * Ends each connection with the answer to its last request once the app is closing. Else one that was busy at that
 * moment is kept for its next request, and the process with it, until it is killed. One that looks idle may have a
 * request on its way, which its end would lose: it is given a moment to arrive before the idle ones are closed. One whose
 * request does not come to its end is cut off: the server's own limits end with it.
 *
 * @param requestMs in which time a request has arrived at any other time
 */
export function drain(fastify: FastifyInstance, requestMs: number): void {
  let closing = false;
  fastify.addHook('preClose', async () => {
    closing = true;
    setTimeout(() => fastify.server.closeAllConnections(), LAST_REQUESTS_MS + requestMs).unref();
    if ((await connectionsOf(fastify)) > 0) await sleep(LAST_REQUESTS_MS);
  });
  fastify.addHook('onSend', async (_request, reply) => {
    if (closing) void reply.header('Connection', 'close');
  });
}

function connectionsOf({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
