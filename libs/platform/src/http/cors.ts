import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'WWW-Authenticate, DPoP-Nonce, Retry-After',
};

/**
 * Lets scripts of any origin call these paths and read the answers (CORS). The paths take no cookies, so a script gains
 * nothing but what its own credentials give.
 */
export async function allowCrossOrigin(fastify: FastifyInstance, paths: readonly string[]): Promise<void> {
  const open = new Set(paths);
  const isOpen = (url: string) => open.has(url.split('?', 1)[0] ?? '');
  fastify.addHook('onRequest', ({ method, headers, url }, reply, done) => {
    // Only browsers send Origin; the servers that make nearly all requests pay nothing.
    if (headers.origin !== undefined && method !== 'OPTIONS' && isOpen(url)) reply.headers(ANY_ORIGIN);
    done();
  });
  // In a scope of its own, so that the plugin's hook runs for preflights only.
  await fastify.register(async (preflights) => {
    preflights.addHook('onRoute', (route) => {
      // The plugin adds its route before Nest sets the error handler, and would keep Fastify's.
      route.errorHandler = (error, request, reply) => fastify.errorHandler(error, request, reply);
    });
    await preflights.register(cors, {
      delegator: ({ url }, callback) =>
        callback(null, {
          origin: isOpen(url) ? '*' : false,
          methods: ['GET', 'POST'],
          allowedHeaders: ['Authorization', 'Content-Type', 'DPoP', 'MCP-Protocol-Version'],
          exposedHeaders: ANY_ORIGIN['Access-Control-Expose-Headers'],
          maxAge: 3600,
          strictPreflight: false,
        }),
    });
  });
}
