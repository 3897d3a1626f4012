import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ResponseHeaders } from './response-headers.js';

const EXPOSED_HEADERS = 'WWW-Authenticate, DPoP-Nonce, Retry-After, Error-Reference';
export const ANY_ORIGIN: ResponseHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
};

/** Clients try several well-known URLs for metadata (RFC 8414 3.1, RFC 9728 3.1) and must be able to read the 404s. */
const WELL_KNOWN = '/.well-known/';

/** Returns true for paths that ignore cookies, so that a cross-origin script cannot use the user's session. */
function isOpen(url: string, paths: ReadonlySet<string>): boolean {
  return paths.has(url.split('?', 1)[0] ?? '') || url.startsWith(WELL_KNOWN);
}

/** Matches cross-origin requests to these and well-known paths, except preflights, to which a plugin responds. */
export function crossOriginMatcher(paths: readonly string[]): (request: FastifyRequest) => boolean {
  const open = new Set(paths);
  // Only browsers send Origin, and nearly all requests come from servers.
  return ({ method, headers, url }) =>
    headers.origin !== undefined && method !== 'OPTIONS' && open.size > 0 && isOpen(url, open);
}

export async function answerPreflights(fastify: FastifyInstance, paths: readonly string[]): Promise<void> {
  const open = new Set(paths);
  // An encapsulated scope limits the plugin's hook to preflights.
  await fastify.register(async (preflights) => {
    preflights.addHook('onRoute', (route) => {
      // The plugin adds its route before Nest sets the error handler, so the route would keep Fastify's default.
      route.errorHandler = (error, request, reply) => fastify.errorHandler(error, request, reply);
    });
    // Without `allowedHeaders`, the plugin permits the requested headers. `*` would not include Authorization.
    await preflights.register(cors, {
      delegator: ({ url }, callback) =>
        callback(null, {
          origin: isOpen(url, open) ? '*' : false,
          methods: ['GET', 'POST'],
          exposedHeaders: EXPOSED_HEADERS,
          maxAge: 3600,
          strictPreflight: false,
        }),
    });
  });
}
