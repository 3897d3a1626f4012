import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RefusedRequestError } from './refused-request.js';
import type { RequestObservers } from './request-observers.js';

interface RequestRules {
  /** Sent with every response. */
  readonly headers: ResponseHeaders;
  /** CORS: scripts of any origin may call these paths. */
  readonly crossOriginPaths: readonly string[];
  readonly observers: RequestObservers;
  readonly isClosing: () => boolean;
}

/**
 * Applies the rules of this file to every request and response. One hook of each kind calls the rules in
 * their order. A rule refuses a request by an exception.
 */
export async function addRequestHooks(
  fastify: FastifyInstance,
  { headers, crossOriginPaths, observers, isClosing }: RequestRules,
): Promise<void> {
  const isCrossOrigin = crossOriginMatcher(crossOriginPaths);
  const refuseAfterStall = stallRule(fastify);
  // Node drops headers after the thousandth, which could hide a second Host. The 16 KiB limit bounds them instead.
  fastify.server.maxHeadersCount = 0;
  fastify.addHook('onRequest', (request, reply, done) => {
    // First, so that every response has them; a handler may override each. @fastify/helmet would recompute them for each request.
    reply.headers(headers);
    requireHost(request, reply);
    if (isCrossOrigin(request)) reply.headers(ANY_ORIGIN);
    refuseAfterStall(request);
    done();
  });
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (isClosing()) void reply.header('Connection', 'close');
    if (hasUnreadBody(raw, reply)) void readRest(raw).finally(() => done(null, payload));
    else done(null, payload);
  });
  observers.observe(fastify);
  // After the hooks, which its scope copies.
  if (crossOriginPaths.length > 0) await answerPreflights(fastify, crossOriginPaths);
}

/** Matches no route. */
const NO_PATH = '/%25';

/** Returns the path and query of a request target in absolute form (RFC 9112 3.2.1, 3.2.2), and any other target as it is. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  return target.replace(/^https?:\/\/[^/?#%]*/i, '').replace(/^(?=\?|$)/, '/');
}

/**
 * Returns the path and query of a request target, which may be in absolute form (RFC 9112 3.2.2). Targets that are not
 * a path or cannot be decoded are mapped to a 404, because the router's error response would quote them.
 */
export function requestTarget({ url = '/' }: { readonly url?: string | undefined }): string {
  const target = originForm(url);
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

const EXPOSED_HEADERS = 'WWW-Authenticate, DPoP-Nonce, Retry-After, Error-Reference';
export const ANY_ORIGIN: ResponseHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
};

/** Clients try several well-known URLs for metadata (RFC 8414 3.1, RFC 9728 3.1) and must be able to read the 404s. */
const WELL_KNOWN = '/.well-known/';

/**
 * Returns true for paths that scripts of any origin may call (CORS). The paths ignore cookies, so a script can use only
 * credentials that it has itself.
 */
function isOpen(url: string, paths: ReadonlySet<string>): boolean {
  return paths.has(url.split('?', 1)[0] ?? '') || url.startsWith(WELL_KNOWN);
}

/** Preflights have a plugin. */
function crossOriginMatcher(paths: readonly string[]): (request: FastifyRequest) => boolean {
  const open = new Set(paths);
  // Only browsers send Origin, and nearly all requests come from servers.
  return ({ method, headers, url }) =>
    headers.origin !== undefined && method !== 'OPTIONS' && open.size > 0 && isOpen(url, open);
}

async function answerPreflights(fastify: FastifyInstance, paths: readonly string[]): Promise<void> {
  const open = new Set(paths);
  // In an encapsulated scope, so that the plugin's hook runs for preflights only.
  await fastify.register(async (preflights) => {
    preflights.addHook('onRoute', (route) => {
      // The plugin adds its route before Nest sets the error handler and would keep Fastify's default.
      route.errorHandler = (error, request, reply) => fastify.errorHandler(error, request, reply);
    });
    await preflights.register(cors, {
      delegator: ({ url }, callback) =>
        callback(null, {
          origin: isOpen(url, open) ? '*' : false,
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
function requireHost({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (hasUnambiguousHost(raw)) return;
  void reply.header('Connection', 'close');
  throw new RefusedRequestError(400, 'the request must have one Host header', {
    detail: { check: 'host_header_invalid', hosts: countHosts(raw.rawHeaders) },
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
 * Only the timer updates the clock: requests may run for seconds within one turn of the event loop. Preflights are not refused:
 * a script could not read the 503.
 *
 * @param now monotonic milliseconds
 */
export function stallRule(
  fastify: Pick<FastifyInstance, 'addHook'>,
  now: () => number = () => performance.now(),
): (request: Pick<FastifyRequest, 'method'>) => void {
  let lastTurn = now();
  let refuseUntil = 0;
  const timer = setInterval(() => {
    const time = now();
    if (time - lastTurn > STALL_MS) refuseUntil = time + CATCH_UP_MS;
    lastTurn = time;
  }, CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  return ({ method }) => {
    const time = now();
    // After a stall, either the timer or a request runs first.
    const isStalled = time < refuseUntil || time - lastTurn > STALL_MS;
    if (isStalled && method !== 'OPTIONS')
      throw new RefusedRequestError(503, 'the event loop was stalled', STALLED);
  };
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
  return () => closing;
}

function countConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/**
 * Returns true if the response closes the connection before the request is read (body too large, or `Connection: close`). A
 * connection that closes with unread bytes is reset, and the client or a proxy may lose the response (RFC 9112 9.6).
 */
function hasUnreadBody({ complete }: IncomingMessage, reply: FastifyReply): boolean {
  return !complete && !(reply.raw.shouldKeepAlive && reply.getHeader('connection') !== 'close');
}

/** Discards the rest of a request, for at most `UNREAD_BODY_MS`. */
export async function readRest(request: IncomingMessage): Promise<void> {
  request.resume();
  const signal = AbortSignal.timeout(UNREAD_BODY_MS);
  await finished(request, { writable: false, signal }).catch(() => undefined);
}
