import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasUnreadBody, readRest } from './connections.js';
import { answerPreflights, ANY_ORIGIN, crossOriginMatcher } from './cross-origin.js';
import { requireHost } from './request-target.js';
import type { ResponseHeaders } from './response-headers.js';
import { RefusedRequestError } from './refused-request.js';
import type { IncomingMessage } from 'node:http';

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
