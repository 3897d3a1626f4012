import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { RefusedRequestError } from './refused-request.js';

// Hooks of every request and response, in the order in which service.ts adds them.

/** Matches no route. */
const NO_PATH = '/%25';

/**
 * Returns the path and query of a request target, which may be in absolute form (RFC 9112 3.2.2). Targets that are not
 * a path or cannot be decoded are mapped to a 404, because the router's error response would quote them.
 */
export function requestTarget({ url = '/' }: { readonly url?: string | undefined }): string {
  const target = url.startsWith('/')
    ? url
    : url.replace(/^https?:\/\/[^/?#%]*/i, '').replace(/^(?=\?|$)/, '/');
  if (!target.startsWith('/')) return NO_PATH;
  const [path = ''] = target.split('?', 1);
  if (!path.includes('%')) return target;
  try {
    decodeURI(path);
    return target;
  } catch {
    return NO_PATH;
  }
}

/**
 * Disables Fastify's query parser, which would run for every request: handlers parse the raw query where they need it.
 */
export function unparsedQuery(): Record<string, never> {
  return {};
}

export type ResponseHeaders = Readonly<Record<string, string>>;

/** Headers that mean something for JSON; pages have more (libs/ui/src/page-headers.ts). `docs/security.md` explains each. */
const SECURITY_HEADERS: ResponseHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
/** RFC 6797 7.2: "MUST NOT include the STS header field in HTTP responses conveyed over non-secure transport" */
const HTTPS_HEADERS: ResponseHeaders = { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' };

/** @param own headers of the app, which override the defaults */
export function responseHeaders(publicUrl: string, own: ResponseHeaders = {}): ResponseHeaders {
  return { ...SECURITY_HEADERS, ...(publicUrl.startsWith('https:') && HTTPS_HEADERS), ...own };
}

/**
 * Sets the headers on every response; a handler may override each. @fastify/helmet would recompute them for each
 * request, at a higher cost than the rest of a small request.
 */
export function setResponseHeaders(fastify: FastifyInstance, headers: ResponseHeaders): void {
  fastify.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}

const EXPOSED_HEADERS = 'WWW-Authenticate, DPoP-Nonce, Retry-After, Error-Reference';
export const ANY_ORIGIN: ResponseHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
};

/** Clients try several well-known URLs for metadata (RFC 8414 3.1, RFC 9728 3.1) and must be able to read the 404s. */
const WELL_KNOWN = '/.well-known/';

/**
 * Allows scripts of any origin (CORS) to call these paths and everything under `/.well-known/`. The paths ignore
 * cookies, so a script can use only credentials that it has itself.
 */
export async function allowCrossOrigin(fastify: FastifyInstance, paths: readonly string[]): Promise<void> {
  const open = new Set(paths);
  const isOpen = (url: string) => open.has(url.split('?', 1)[0] ?? '') || url.startsWith(WELL_KNOWN);
  fastify.addHook('onRequest', ({ method, headers, url }, reply, done) => {
    // Only browsers send Origin, and nearly all requests come from servers.
    if (headers.origin !== undefined && method !== 'OPTIONS' && isOpen(url)) reply.headers(ANY_ORIGIN);
    done();
  });
  // In an encapsulated scope, so that the plugin's hook runs for preflights only.
  await fastify.register(async (preflights) => {
    preflights.addHook('onRoute', (route) => {
      // The plugin adds its route before Nest sets the error handler and would keep Fastify's default.
      route.errorHandler = (error, request, reply) => fastify.errorHandler(error, request, reply);
    });
    await preflights.register(cors, {
      delegator: ({ url }, callback) =>
        callback(null, {
          origin: isOpen(url) ? '*' : false,
          methods: ['GET', 'POST'],
          allowedHeaders: ['Authorization', 'Content-Type', 'DPoP', 'MCP-Protocol-Version'],
          exposedHeaders: EXPOSED_HEADERS,
          maxAge: 3600,
          strictPreflight: false,
        }),
    });
  });
}

/**
 * RFC 9112 3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks a
 * Host header field and to any request message that contains more than one Host header field line". Node uses the first of
 * several, but a proxy may use the last. Closes the connection, because a proxy that disagrees about the host may also
 * disagree about where the request ends (request smuggling).
 */
export function requireHost(fastify: FastifyInstance): void {
  // Node drops headers after the thousandth, which could hide a second Host. The 16 KiB limit bounds them instead.
  fastify.server.maxHeadersCount = 0;
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (hasUnambiguousHost(raw)) {
      done();
      return;
    }
    const hosts = countHosts(raw.rawHeaders);
    void reply.header('Connection', 'close');
    done(
      new RefusedRequestError(400, 'the request must have one Host header', {
        detail: { check: 'host_header_invalid', hosts },
      }),
    );
  });
}

/** Returns true for one Host header, or none in HTTP/1.0. */
export function hasUnambiguousHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = countHosts(rawHeaders);
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/** @param headers `rawHeaders`: alternating names and values */
function countHosts(headers: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Longer than scheduling delays on a busy machine; shorter than the retry window of a refresh token. */
export const STALL_MS = 5_000;
const CHECK_MS = 500;
/** Time to read the requests that arrived during the stall. */
const CATCH_UP_MS = 1_000;
const STALLED = { headers: { 'Retry-After': '1' }, detail: { check: 'event_loop_stalled' } };

/**
 * Refuses requests that waited while the event loop was stalled: the process was stopped by a signal, frozen with its
 * container, or starved of CPU. Their clients have timed out and retried at another instance. After a successful
 * retry, executing the late refresh would look like token reuse (RFC 9700 4.14.2) and revoke the grant.
 *
 * Only the timer updates the clock: requests may run for seconds within one turn of the event loop.
 *
 * @param now monotonic milliseconds
 */
export function refuseAfterStall(
  fastify: Pick<FastifyInstance, 'addHook'>,
  now: () => number = () => performance.now(),
): void {
  let lastTurn = now();
  let refuseUntil = 0;
  const timer = setInterval(() => {
    const time = now();
    if (time - lastTurn > STALL_MS) refuseUntil = time + CATCH_UP_MS;
    lastTurn = time;
  }, CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  fastify.addHook('onRequest', (_request, _reply, done) => {
    const time = now();
    // After a stall, either the timer or a request runs first.
    const stalled = time < refuseUntil || time - lastTurn > STALL_MS;
    done(stalled ? new RefusedRequestError(503, 'the event loop was stalled', STALLED) : undefined);
  });
}

/** Grace period for requests in flight on keep-alive connections. */
const GRACE_MS = 250;
/** Time for the rest of an unread body to arrive before the connection is closed. */
export const UNREAD_BODY_MS = 1_000;

/**
 * Once the app is closing, ends each connection with its next response; a keep-alive connection would keep the process
 * running until it is killed. Idle connections stay open for a grace period, because closing them would lose a request
 * in flight. Closing disables the server's own time limits, so remaining requests are cut off after theirs.
 *
 * @param requestMs time limit of a request, in milliseconds
 * @returns tells whether the app is closing
 */
export function closeConnectionsGracefully(fastify: FastifyInstance, requestMs: number): () => boolean {
  let closing = false;
  fastify.addHook('preClose', async () => {
    closing = true;
    setTimeout(() => fastify.server.closeAllConnections(), GRACE_MS + requestMs).unref();
    if ((await countConnections(fastify)) > 0) await sleep(GRACE_MS);
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) void reply.header('Connection', 'close');
    done(null, payload);
  });
  return () => closing;
}

function countConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/**
 * Reads the rest of a request before a response that closes the connection (body too large, or `Connection: close`). A
 * connection that closes with unread bytes is reset, and the client or a proxy may lose the response (RFC 9112 9.6).
 */
export function readBodyBeforeClose(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    const isKept = reply.raw.shouldKeepAlive && reply.getHeader('connection') !== 'close';
    if (raw.complete || isKept) done(null, payload);
    else void readRest(raw).finally(() => done(null, payload));
  });
}

/** Discards the rest of a request, for at most `UNREAD_BODY_MS`. */
export async function readRest(request: IncomingMessage): Promise<void> {
  request.resume();
  const signal = AbortSignal.timeout(UNREAD_BODY_MS);
  await finished(request, { writable: false, signal }).catch(() => undefined);
}
