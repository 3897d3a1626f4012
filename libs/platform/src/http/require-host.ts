import type { FastifyInstance } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';

/**
 * RFC 9112 3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks a
 * Host header field and to any request message that contains more than one Host header field line". Node uses the first of
 * several, but a proxy may use the last. Closes the connection, because a proxy that disagrees about the host may also
 * disagree about where the request ends (request smuggling).
 */
export function requireHost(fastify: FastifyInstance): void {
  // Node hides what follows the thousandth header, a second Host too. All of them have 16 KiB.
  fastify.server.maxHeadersCount = 0;
  fastify.addHook('onRequest', async ({ raw }, reply) => {
    const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
    if (hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0')) return;
    void reply.header('Connection', 'close');
    throw OAuthError.invalidRequest('the request must have one Host header', {
      detail: { check: 'host', hosts },
    });
  });
}
