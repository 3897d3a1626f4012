import type { IncomingMessage, RequestListener } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { addLogContext, assignReference, logFailure } from '../logging/request-log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { ANY_ORIGIN, readRest } from './request-hooks.js';
import { hasUnambiguousHost, requestTarget } from './request-parsing.js';
import { RefusedRequestError } from './failed-request.js';
import type { ResponseHeaders } from './response-headers.js';

/** Limit per turn; a request waits for two or three turns. A lower limit serves less (docs/performance.md#overload). */
const MAX_DELAY_MS = 200;
const CHECK_MS = 50;
/** Milliseconds of delay before requests are refused, so that shorter bursts are served. */
const PERSISTENCE_MS = 500;
/** Minimum share of idle time of a process that is not overloaded. */
const MIN_IDLE_SHARE = 0.1;

export interface EventLoopClock {
  now(): number;
  /** Total time that the event loop has waited for events, in milliseconds. */
  idle(): number;
}

const CLOCK: EventLoopClock = {
  now: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
};

/**
 * Detects overload by a timer: the event loop has been late for half a second and has hardly waited for events. On a
 * busy machine, the timer of an idle process is also late, but the event loop of the process waits.
 */
export class EventLoopDelay {
  private lastCheck: number;
  private lastIdle: number;
  private lateSince = Infinity;
  private isPersistent = false;

  constructor(private readonly clock: EventLoopClock = CLOCK) {
    this.lastCheck = clock.now();
    this.lastIdle = clock.idle();
  }

  /** Runs every `CHECK_MS`, or once per turn while the event loop is late. */
  check(): void {
    const [now, idle] = [this.clock.now(), this.clock.idle()];
    const hasWaited = (idle - this.lastIdle) / (now - this.lastCheck) > MIN_IDLE_SHARE;
    const isBehind = this.isLate(now) && !hasWaited;
    if (!isBehind) this.lateSince = Infinity;
    else if (this.lateSince === Infinity) this.lateSince = now;
    this.isPersistent = now - this.lateSince >= PERSISTENCE_MS;
    this.lastCheck = now;
    this.lastIdle = idle;
  }

  /** Returns true during overload once this turn is late, so that the turn's first requests are accepted. */
  isOverloaded(): boolean {
    return this.isPersistent && this.isLate(this.clock.now());
  }

  private isLate(now: number): boolean {
    return now - this.lastCheck > CHECK_MS + MAX_DELAY_MS;
  }
}

export const OVERLOAD_CHECK = 'event_loop_delayed';
const STATUS = 503;
const RETRY = { 'Retry-After': '1' };

interface OverloadResponse {
  readonly headers: ResponseHeaders;
  readonly body: OverloadBody;
  /** Returns true while the app closes: the framework must then respond, because it also ends the connection. */
  readonly isClosing: () => boolean;
}

export type OverloadBody = (request: IncomingMessage) => object;

export interface OverloadOptions {
  readonly delay: Pick<EventLoopDelay, 'check' | 'isOverloaded'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Response that bypasses the framework; by default the error filter responds, at the cost of a normal request. */
  readonly answer?: OverloadResponse | undefined;
}

export function refuseOverload(
  fastify: FastifyInstance,
  { delay, metrics, logger, answer }: OverloadOptions,
): void {
  const refusals = metrics.counter(
    'oauth_overload_refusals_total',
    'Requests refused because of event loop delay',
    [],
  );
  const timer = setInterval(() => delay.check(), CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  const isRefused = (): boolean => {
    if (!delay.isOverloaded()) return false;
    refusals.inc();
    return true;
  };
  if (answer) answerBeforeFramework(fastify, isRefused, logger, answer);
  else
    fastify.addHook('onRequest', (_request, _reply, done) => {
      const options = { headers: RETRY, detail: { check: OVERLOAD_CHECK } };
      done(isRefused() ? new RefusedRequestError(STATUS, 'the service is overloaded', options) : undefined);
    });
}

/** Bypasses the framework, so that an overloaded app serves more requests (docs/performance.md#overload). */
function answerBeforeFramework(
  fastify: FastifyInstance,
  isRefused: () => boolean,
  logger: Logger,
  { headers, body, isClosing }: OverloadResponse,
): void {
  // Flat array of names and values, which Node writes without processing.
  const sent = Object.entries({
    ...headers,
    ...RETRY,
    'Content-Type': 'application/json; charset=utf-8',
  }).flat();
  const forScripts = [...sent, ...Object.entries(ANY_ORIGIN).flat()];
  const { server } = fastify;
  const [framework] = server.listeners('request') as [RequestListener];
  // The framework closes the connection after an ambiguous Host. A script cannot read the 503 after a failed preflight.
  const isExempt = (request: IncomingMessage): boolean =>
    isClosing() || request.method === 'OPTIONS' || !hasUnambiguousHost(request);
  server.removeAllListeners('request').on('request', (request, response) => {
    if (isExempt(request) || !isRefused()) return framework(request, response);
    request.url = requestTarget(request);
    assignReference(request);
    addLogContext(request, { error: 'temporarily_unavailable', check: OVERLOAD_CHECK });
    const text = JSON.stringify(body(request));
    const isCrossOrigin = request.headers.origin !== undefined;
    response.writeHead(STATUS, [
      ...(isCrossOrigin ? forScripts : sent),
      'Content-Length',
      Buffer.byteLength(text),
    ]);
    if (response.shouldKeepAlive) response.end(text);
    else void readRest(request).then(() => response.end(text));
    logFailure(logger, request, STATUS);
  });
}
