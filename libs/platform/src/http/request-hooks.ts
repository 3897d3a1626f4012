import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { RefusedRequestError } from './failed-request.js';
import { requireHost } from './request-parsing.js';
import type { ResponseHeaders } from './response-headers.js';

interface RequestRules {
  readonly headers: ResponseHeaders;
  /** Paths that scripts of any origin may call (CORS). */
  readonly crossOriginPaths: readonly string[];
  readonly observers: RequestObservers;
  readonly isClosing: () => boolean;
}

/** Applies the rules of every request in order, in one `onRequest` hook, because several hooks would cost more. */
export async function addRequestHooks(
  fastify: FastifyInstance,
  { headers, crossOriginPaths, observers, isClosing }: RequestRules,
): Promise<void> {
  const isCrossOrigin = crossOriginMatcher(crossOriginPaths);
  const refuseAfterStall = stallRule(fastify);
  // Node drops headers after the thousandth, which could hide a second Host. The 16 KiB limit still applies.
  fastify.server.maxHeadersCount = 0;
  fastify.addHook('onRequest', (request, reply, done) => {
    // Set first, so that refusals have these headers too. @fastify/helmet would recompute them for each request.
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
  // Must follow the hooks, because the encapsulated scope copies them.
  if (crossOriginPaths.length > 0) await answerPreflights(fastify, crossOriginPaths);
}

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
function crossOriginMatcher(paths: readonly string[]): (request: FastifyRequest) => boolean {
  const open = new Set(paths);
  // Only browsers send Origin, and nearly all requests come from servers.
  return ({ method, headers, url }) =>
    headers.origin !== undefined && method !== 'OPTIONS' && open.size > 0 && isOpen(url, open);
}

async function answerPreflights(fastify: FastifyInstance, paths: readonly string[]): Promise<void> {
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

/** Longer than scheduling delays on a busy machine, and shorter than the default RETRY_WINDOW of a refresh token. */
export const STALL_MS = 5_000;
const CHECK_MS = 500;
/** Milliseconds in which the process reads the requests that arrived during the stall. */
const CATCH_UP_MS = 1_000;
const STALLED = { headers: { 'Retry-After': '1' }, detail: { check: 'event_loop_stalled' } };

/**
 * Refuses requests that waited while the process was stopped, frozen with its container, or starved of CPU. The clients
 * of such requests may have retried at another instance, and a late refresh would look like token reuse (RFC 9700
 * 4.14.2) and revoke the grant. Only the timer sets `lastTurn`, because a turn of the event loop may serve requests for
 * seconds.
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
    // A request may run before the timer.
    const isStalled = time < refuseUntil || time - lastTurn > STALL_MS;
    // Exempts preflights, because a script cannot read the 503 after a failed preflight.
    if (isStalled && method !== 'OPTIONS')
      throw new RefusedRequestError(503, 'the event loop was stalled', STALLED);
  };
}

/** Limit of pipelined requests per connection. Client libraries and proxies do not pipeline. */
export const MAX_PIPELINED = 32;

/**
 * Closes a connection with too many pipelined requests, because Node would dispatch a burst of tens of thousands of
 * small requests before it serves another connection. Clients retry (RFC 9112 9.3.2). `maxRequestsPerSocket` would also
 * end busy connections without pipelining.
 */
export function limitPipelining({ server }: FastifyInstance, logger: Logger): void {
  const waiting = new WeakMap<Socket, number>();
  const [framework] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request').on('request', (request, response) => {
    // Only a response behind a pending response has no socket. Without pipelining, this comparison is the only cost.
    if (response.socket !== null) return framework(request, response);
    const { socket } = request;
    if (socket.destroyed) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED) {
      socket.destroy();
      logger.warn(`closed a connection with more than ${MAX_PIPELINED} requests waiting for a response`);
      return;
    }
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    framework(request, response);
  });
}

const GRACE_MS = 250;
export const UNREAD_BODY_MS = 1_000;

/**
 * Delays the shutdown briefly if connections are open, because a request may be in flight on an idle connection.
 * Closing disables the server's time limits, so this function closes the remaining connections `requestMs` later.
 *
 * @returns a predicate that is true while the app closes, when each response must end its connection
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

/** Returns true if closing the connection would reset it, so that the client may lose the response (RFC 9112 9.6). */
function hasUnreadBody({ complete }: IncomingMessage, reply: FastifyReply): boolean {
  return !complete && !(reply.raw.shouldKeepAlive && reply.getHeader('connection') !== 'close');
}

/** Discards the rest of a body, for at most `UNREAD_BODY_MS`. */
export async function readRest(request: IncomingMessage): Promise<void> {
  request.resume();
  const signal = AbortSignal.timeout(UNREAD_BODY_MS);
  await finished(request, { writable: false, signal }).catch(() => undefined);
}

/** Reports requests, for example to the log, the metrics or the audit trail. Must not throw. */
export interface RequestObserver {
  /** Called after the response was sent. If the client had disconnected, `onAborted` was called first. */
  onAnswered(request: FastifyRequest, reply: FastifyReply, isAborted: boolean): void;
  /** Called if the client disconnected before the response was sent. The handler may still run. */
  onAborted?(request: FastifyRequest): void;
  /** Called instead of `onAnswered` if the handler of an aborted request has finished and no response can be sent. */
  onUndelivered?(request: FastifyRequest, reply: FastifyReply): void;
}

export class RequestObservers {
  private readonly observers: RequestObserver[] = [];
  private readonly aborted = new WeakSet<IncomingMessage>();

  add(...observers: readonly RequestObserver[]): void {
    this.observers.push(...observers);
  }

  observe(fastify: Pick<FastifyInstance, 'addHook'>): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      const isAborted = this.aborted.has(request.raw);
      for (const observer of this.observers) observer.onAnswered(request, reply, isAborted);
      done();
    });
    fastify.addHook('onRequestAbort', (request, done) => {
      this.aborted.add(request.raw);
      for (const observer of this.observers) observer.onAborted?.(request);
      done();
    });
    // Fastify does not call onResponse if the response cannot be sent.
    fastify.addHook('onSend', (request, reply, payload, done) => {
      if (reply.raw.destroyed && this.aborted.has(request.raw))
        for (const observer of this.observers) observer.onUndelivered?.(request, reply);
      done(null, payload);
    });
  }
}
