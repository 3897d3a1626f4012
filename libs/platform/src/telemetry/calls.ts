import { type TracingChannelSubscribers, tracingChannel } from 'node:diagnostics_channel';
import type { LoggerService } from '@nestjs/common';
import type { Metrics } from './metrics.js';

/** Call to or from another process, without keys, arguments, parameters or payloads. */
export interface Call {
  readonly system: 'redis' | 'postgresql' | 'nats';
  /** Redis command, first word of an SQL statement, `request` or `process`. */
  readonly operation: string;
  /** SQL table or NATS subject. */
  readonly target?: string;
  readonly carrier?: Carrier;
}

export interface Carrier {
  set(name: string, value: string): void;
  get?(name: string): string;
}

/** `TracingChannel` of node:diagnostics_channel with a parser of its messages. */
export interface CallChannel {
  readonly name: string;
  readonly read: (message: never) => Call;
}

/** Channels of calls by this process. ioredis publishes to the first channel, and this service to the others. */
export const OUTGOING: readonly CallChannel[] = [
  {
    name: 'ioredis:command',
    read: ({ command }: { command: string }) => ({ system: 'redis', operation: command.toUpperCase() }),
  },
  {
    name: 'scheduling-oauth:statement',
    read: ({ operation, table }: { operation: string; table?: string }) => ({
      system: 'postgresql',
      operation,
      ...(table !== undefined && { target: table }),
    }),
  },
  {
    name: 'scheduling-oauth:nats-request',
    read: ({ subject, headers }: { subject: string; headers: Carrier }) => ({
      system: 'nats',
      operation: 'request',
      target: subject,
      carrier: headers,
    }),
  },
];

export const INCOMING: CallChannel = {
  name: 'scheduling-oauth:nats-response',
  read: ({ subject, headers }: { subject: string; headers?: Carrier }) => ({
    system: 'nats',
    operation: 'process',
    target: subject,
    ...(headers && { carrier: headers }),
  }),
};

/** Function that runs at the start of a call, and returns a function that runs at its end. */
export type BeginCall = (call: Call) => (failed: boolean) => void;

export function onCalls({ name, read }: CallChannel, begin: BeginCall): () => void {
  const channel = tracingChannel<unknown, object>(name);
  const ends = new WeakMap<object, (failed: boolean) => void>();
  const subscribers = {
    start: (message: object) => void ends.set(message, begin(read(message as never))),
    asyncStart: (message: object) => {
      ends.get(message)?.('error' in message);
      ends.delete(message);
    },
  };
  // The types of Node 20 require all five subscribers; the runtime does not.
  channel.subscribe(subscribers as unknown as TracingChannelSubscribers<object>);
  return () => channel.unsubscribe(subscribers as unknown as TracingChannelSubscribers<object>);
}

/** Seconds above which a call to another process is logged as slow. */
const SLOW_S = 0.5;
const SLOW_LOG_INTERVAL_MS = 60_000;
const SERVERS = { redis: 'Redis', postgresql: 'PostgreSQL', nats: 'NATS' } as const;

/** Returns a function that logs a slow call, at most one a minute for each system. */
function slowCallLog(logger: Pick<LoggerService, 'warn'>): (call: Call, seconds: number) => void {
  const loggedAt = new Map<Call['system'], number>();
  return ({ system, operation, target }, seconds) => {
    const now = performance.now();
    if (now - (loggedAt.get(system) ?? -Infinity) < SLOW_LOG_INTERVAL_MS) return;
    loggedAt.set(system, now);
    logger.warn({
      dependency: system,
      operation,
      ...(target !== undefined && { target }),
      duration_ms: Math.round(seconds * 1000),
      msg: `${SERVERS[system]} answered slowly`,
    });
  };
}

/**
 * Measures calls to Redis, PostgreSQL and NATS, and replies over NATS, and logs slow calls. The metrics have
 * OpenTelemetry's names.
 */
export function measureCalls(metrics: Metrics, logger: Pick<LoggerService, 'warn'>): void {
  const logSlow = slowCallLog(logger);
  const database = metrics.histogram(
    'db_client_operation_duration_seconds',
    'Duration of calls to Redis and PostgreSQL',
    ['db_system_name', 'db_operation_name', 'outcome'],
  );
  const requested = metrics.histogram(
    'messaging_client_operation_duration_seconds',
    'Duration of requests over NATS',
    ['messaging_system', 'messaging_destination_name', 'outcome'],
  );
  const processed = metrics.histogram(
    'messaging_process_duration_seconds',
    'Time in which this process replied to requests over NATS',
    ['messaging_system', 'messaging_destination_name', 'outcome'],
  );
  for (const channel of [...OUTGOING, INCOMING])
    onCalls(channel, (call) => {
      const { system, operation, target = '' } = call;
      const start = performance.now();
      return (failed) => {
        const seconds = (performance.now() - start) / 1000;
        if (seconds > SLOW_S && channel !== INCOMING) logSlow(call, seconds);
        const outcome = failed ? 'error' : 'ok';
        if (system === 'nats') {
          const histogram = channel === INCOMING ? processed : requested;
          const labels = { messaging_system: system, messaging_destination_name: target, outcome };
          histogram.observe(labels, seconds);
        } else {
          database.observe({ db_system_name: system, db_operation_name: operation, outcome }, seconds);
        }
      };
    });
}
