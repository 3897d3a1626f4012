import { performance } from 'node:perf_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addLogContext } from '../logging/request-log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { RefusedRequestError } from './refused-request.js';

/** Longer than garbage collection takes; a request waits for two or three turns of the event loop. */
const MAX_DELAY_MS = 100;
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

/** The body of a refusal, in the shape of the app's errors. */
export type OverloadBody = (request: FastifyRequest) => object;

export const OVERLOAD_CHECK = 'event loop delay';
const HEADERS = { 'Retry-After': '1' };

/**
 * Answers 503 when the process cannot answer in bounded time, before anything else is done for the request.
 *
 * @param body sent directly; without it the error filter answers, which costs as much as a request
 */
export function refuseOverload(
  fastify: Pick<FastifyInstance, 'addHook'>,
  metrics: Metrics,
  body?: OverloadBody,
  delay: Pick<EventLoopDelay, 'check' | 'isTooLong'> = new EventLoopDelay(),
): void {
  const refusals = metrics.counter(
    'oauth_overload_refusals_total',
    'Requests refused because the event loop was late for too long',
    [],
  );
  const timer = setInterval(() => delay.check(), CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!delay.isTooLong()) {
      done();
      return;
    }
    refusals.inc();
    if (!body) {
      done(
        new RefusedRequestError(503, 'the service is overloaded', {
          headers: HEADERS,
          detail: { check: OVERLOAD_CHECK },
        }),
      );
      return;
    }
    addLogContext(request.raw, { error: 'temporarily_unavailable', check: OVERLOAD_CHECK });
    void reply.status(503).headers(HEADERS).send(body(request));
  });
}
