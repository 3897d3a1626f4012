import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { RefusedRequestError } from './refused-request.js';

// What every request passes before its handler, and every response after it, in the order in which the bootstrap adds the hooks.

/** A path that does not exist. */
const NO_PATH = '/%25';

/**
 * The path and query of a request target, which may be in absolute form (RFC 9112 3.2.2). For a target that is no path, or that
 * cannot be decoded, the router's own answer would quote it; these get a path that does not exist: 404.
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

/** Fastify's own parser would run for every request, and refuse none: handlers that take a query read the raw one. */
export function unparsedQuery(): Record<string, never> {
  return {};
}

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
 * The headers of every response of an app.
 *
 * @param own the app's, which replace those of the same name (authorize: page-headers.ts)
 */
export function responseHeaders(publicUrl: string, own: ResponseHeaders = {}): ResponseHeaders {
  return { ...SECURITY_HEADERS, ...(publicUrl.startsWith('https:') && HTTPS_HEADERS), ...own };
}

/**
 * Sets the same headers on every response: @fastify/helmet computes them anew for each request, which costs more than the rest of
 * a small one. A handler may replace each.
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

/** Clients look for metadata under several well-known URLs (RFC 8414 3.1, RFC 9728 3.1), and must see which do not exist. */
const WELL_KNOWN = '/.well-known/';

/**
 * Lets scripts of any origin call these paths, and all under `/.well-known/`, and read the answers (CORS). The paths take no
 * cookies, so a script gains nothing but what its own credentials give.
 */
export async function allowCrossOrigin(fastify: FastifyInstance, paths: readonly string[]): Promise<void> {
  const open = new Set(paths);
  const isOpen = (url: string) => open.has(url.split('?', 1)[0] ?? '') || url.startsWith(WELL_KNOWN);
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
  // Node hides what follows the thousandth header, a second Host too. Headers are limited to 16 KiB in total.
  fastify.server.maxHeadersCount = 0;
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (isHostClear(raw)) {
      done();
      return;
    }
    const hosts = countHosts(raw.rawHeaders);
    void reply.header('Connection', 'close');
    done(
      new RefusedRequestError(400, 'the request must have one Host header', {
        detail: { check: 'host', hosts },
      }),
    );
  });
}

/** Whether a request has one Host header, or none in HTTP/1.0. */
export function isHostClear({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = countHosts(rawHeaders);
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/** @param headers names and values in turn, as they were sent */
function countHosts(headers: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Longer than a busy machine keeps a process waiting for its turn; shorter than the retry window of a refresh token. */
export const STALL_MS = 5_000;
const CHECK_MS = 500;
/** Until the requests that arrived during the stall have been read. */
const CATCH_UP_MS = 1_000;
const STALLED = { headers: { 'Retry-After': '1' }, detail: { check: 'event loop stall' } };

/**
 * Refuses requests that waited while the event loop was stalled: the process was stopped by a signal, frozen with its
 * container, or starved of CPU. Their clients have given up and repeated them at another instance. A refresh carried out this
 * late looks like reuse of its token if the repetition was answered (RFC 9700 4.14.2), and would revoke the grant.
 *
 * Only the timer sets the clock: requests may run one after another for seconds without a turn of the event loop.
 *
 * @param now milliseconds of a monotonic clock
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
    // After a stall either the timer or a request runs first.
    const stalled = time < refuseUntil || time - lastTurn > STALL_MS;
    done(stalled ? new RefusedRequestError(503, 'the event loop was stalled', STALLED) : undefined);
  });
}

/** Grace period for requests already in flight on keep-alive connections. */
const GRACE_MS = 250;
/** How long the rest of an unread body may take before its connection is closed. */
export const UNREAD_BODY_MS = 1_000;

/**
 * Ends each connection with the answer to its last request once the app is closing; a connection that stayed open for a next
 * request would keep the process alive until it is killed. Idle connections stay open for a grace period first, as closing
 * them would lose a request on its way. Requests that do not end are cut off: closing ends the server's own time limits.
 *
 * @param requestMs within which a request must arrive, in milliseconds
 * @returns whether the app is closing
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
 * Reads the rest of a request before an answer that closes its connection: the answer to a body that is too large, or to a
 * client that asked for the close and whose body nobody waits for. A connection that closes with unread bytes is reset, and the
 * client, or a proxy before it, may lose the answer (RFC 9112 9.6).
 */
export function readBodyBeforeClose(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    const isKept = reply.raw.shouldKeepAlive && reply.getHeader('connection') !== 'close';
    if (raw.complete || isKept) done(null, payload);
    else void readRest(raw).finally(() => done(null, payload));
  });
}

/** Reads the rest of a request, as far as it arrives in time. */
export async function readRest(request: IncomingMessage): Promise<void> {
  request.resume();
  const signal = AbortSignal.timeout(UNREAD_BODY_MS);
  await finished(request, { writable: false, signal }).catch(() => undefined);
}
