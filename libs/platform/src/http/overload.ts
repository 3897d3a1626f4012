import type { IncomingMessage, RequestListener } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { addLogContext, assignReference, logFailure } from '../logging/request-log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { RefusedRequestError } from './refused-request.js';
import { ANY_ORIGIN, isHostClear, readRest, requestTarget, type ResponseHeaders } from './request-hooks.js';

/** A request waits for two or three turns of the event loop. Shorter turns refuse more, and serve a tenth less at twice the load. */
const MAX_DELAY_MS = 200;
const CHECK_MS = 50;
/** A burst that is answered within this time is not refused. */
const PERSISTENCE_MS = 500;
/** The part of its time that a process waits for events, if it has time to wait. */
const WAITING = 0.1;

/** Both in milliseconds, from any start. */
export interface EventLoopClock {
  /** Monotonic. */
  now(): number;
  /** How long the event loop has waited for events, in total. */
  idle(): number;
}

const CLOCK: EventLoopClock = {
  now: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
};

/**
 * Measures the event loop's delay by a timer, and says when there is more work than the process can do: when the loop has been
 * late for half a second and has hardly waited for events. On a busy machine an unloaded process is late too, but it waits.
 */
export class EventLoopDelay {
  private lastCheck: number;
  private lastIdle: number;
  private lateSince = Infinity;
  private isOverloaded = false;

  constructor(private readonly clock: EventLoopClock = CLOCK) {
    this.lastCheck = clock.now();
    this.lastIdle = clock.idle();
  }

  /** Runs every `CHECK_MS`. While the event loop is late, that is once per turn. */
  check(): void {
    const [now, idle] = [this.clock.now(), this.clock.idle()];
    const hasWaited = (idle - this.lastIdle) / (now - this.lastCheck) > WAITING;
    const isBehind = this.isLate(now) && !hasWaited;
    if (!isBehind) this.lateSince = Infinity;
    else if (this.lateSince === Infinity) this.lateSince = now;
    this.isOverloaded = now - this.lateSince >= PERSISTENCE_MS;
    this.lastCheck = now;
    this.lastIdle = idle;
  }

  /**
   * Whether to refuse the request that has just been read. Each turn accepts what it can do in time and refuses the rest, so the
   * process always has work. A turn in time ends the overload.
   */
  isTooLong(): boolean {
    return this.isOverloaded && this.isLate(this.clock.now());
  }

  private isLate(now: number): boolean {
    return now - this.lastCheck > CHECK_MS + MAX_DELAY_MS;
  }
}

export const OVERLOAD_CHECK = 'event loop delay';
const STATUS = 503;
const RETRY = { 'Retry-After': '1' };

/** The 503 of an app, in JSON. */
interface OverloadAnswer {
  /** Those of every answer of the app. */
  readonly headers: ResponseHeaders;
  /** In the shape of the app's errors. */
  readonly body: OverloadBody;
  /** Whether to leave the answer to the framework, which ends each connection while the app closes. */
  readonly isClosing: () => boolean;
}

export type OverloadBody = (request: IncomingMessage) => object;

export interface OverloadOptions {
  readonly delay: Pick<EventLoopDelay, 'check' | 'isTooLong'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Sent in place of the framework's; without it the error filter answers, which costs as much as a request. */
  readonly answer?: OverloadAnswer | undefined;
}

/** Answers 503 when the process cannot answer in bounded time, before anything else is done for the request. */
export function refuseOverload(
  fastify: FastifyInstance,
  { delay, metrics, logger, answer }: OverloadOptions,
): void {
  const refusals = metrics.counter(
    'oauth_overload_refusals_total',
    'Requests refused because the event loop was late for too long',
    [],
  );
  const timer = setInterval(() => delay.check(), CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  const isRefused = (): boolean => {
    if (!delay.isTooLong()) return false;
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

/** The framework's part of a refusal costs as much as the rest: at twice its load, a token app serves a sixth more without it. */
function answerBeforeFramework(
  fastify: FastifyInstance,
  isRefused: () => boolean,
  logger: Logger,
  { headers, body, isClosing }: OverloadAnswer,
): void {
  // Names and values in turn, which Node writes as they are.
  const sent = Object.entries({
    ...headers,
    ...RETRY,
    'Content-Type': 'application/json; charset=utf-8',
  }).flat();
  const forScripts = [...sent, ...Object.entries(ANY_ORIGIN).flat()];
  const { server } = fastify;
  const [framework] = server.listeners('request') as [RequestListener];
  // The framework ends the connection of a request without a clear host, too. And if a preflight fails, the script cannot read
  // the 503 of its request.
  const isExempt = (request: IncomingMessage): boolean =>
    isClosing() || request.method === 'OPTIONS' || !isHostClear(request);
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
