import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

export type ResponseHeaders = Readonly<Record<string, string>>;

/** `docs/security.md` says what each is for. Nothing may be stored, framed, sniffed or executed. */
const SECURITY_HEADERS: ResponseHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};
/** RFC 6797 7.2: "MUST NOT include the STS header field in HTTP responses conveyed over non-secure transport" */
const HTTPS_HEADERS: ResponseHeaders = { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' };

/**
 * Sets the same headers on every response, from one constant table: @fastify/helmet computes them anew for each request, which
 * costs more than the rest of a small one.
 *
 * @param own the app's headers, which replace those of the same name (authorize: page-headers.ts); a handler may replace each
 */
export function setResponseHeaders(
  fastify: FastifyInstance,
  publicUrl: string,
  own: ResponseHeaders = {},
): void {
  const table = Object.freeze({
    ...SECURITY_HEADERS,
    ...(publicUrl.startsWith('https:') && HTTPS_HEADERS),
    ...own,
  });
  fastify.addHook('onRequest', (_request, reply, done) => {
    reply.headers(table);
    done();
  });
}

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
