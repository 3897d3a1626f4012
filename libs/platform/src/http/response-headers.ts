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
 * @param own the app's headers, which replace those of the same name; a handler may replace each
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
