import type { FastifyInstance } from 'fastify';
import { hasUnreadBody, readRest } from './connection-close.js';
import { answerPreflights, ANY_ORIGIN, crossOriginMatcher } from './cross-origin.js';
import { stallRule } from './event-loop-stall.js';
import { requireHost } from './host-header.js';
import type { RequestObservers } from './request-observers.js';
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
