import cors from '@fastify/cors';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * Lets scripts of any origin call these paths and read what they answer (CORS): they take no cookies, so that a
 * caller gets nothing by it but what its own credentials give.
 */
export async function allowBrowsers(app: NestFastifyApplication, paths: readonly string[]): Promise<void> {
  const allowed = new Set(paths);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRoute', (route) => {
    // The plugin's own route is made before Nest's error handler is there, and would keep Fastify's.
    if (route.method === 'OPTIONS')
      route.errorHandler = (error, request, reply) => fastify.errorHandler(error, request, reply);
  });
  await app.register(cors, {
    delegator: ({ url }, callback) => {
      const open = allowed.has(url.split('?', 1)[0] ?? '');
      callback(null, {
        origin: open ? '*' : false,
        methods: ['GET', 'POST'],
        allowedHeaders: ['Authorization', 'Content-Type', 'DPoP', 'MCP-Protocol-Version'],
        exposedHeaders: ['WWW-Authenticate', 'DPoP-Nonce', 'Retry-After'],
        maxAge: 3600,
        strictPreflight: false,
      });
    },
  });
}
