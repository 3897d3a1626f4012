import type { FastifyInstance } from 'fastify';

/**
 * Redirects from another name of this machine (127.0.0.1 for localhost) to the registered one:
 * the authorization response arrives there, and the browser would not send a cookie of the other name.
 */
export function sendHome(app: FastifyInstance, origin: string): void {
  const { host } = new URL(origin);
  app.addHook('onRequest', async (request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD';
    if (isPage && request.host !== host && request.url.startsWith('/'))
      await reply.redirect(origin + request.url, 307);
  });
}
