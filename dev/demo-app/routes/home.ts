import type { FastifyInstance } from 'fastify';

/**
 * Sends a page that was opened by another name of this machine (127.0.0.1 for localhost) to the one that is registered:
 * the answer comes back there, and a cookie of the other name would not come along.
 */
export function sendHome(app: FastifyInstance, origin: string): void {
  const { host } = new URL(origin);
  app.addHook('onRequest', async (request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD';
    if (isPage && request.host !== host && request.url.startsWith('/'))
      await reply.redirect(origin + request.url, 307);
  });
}
