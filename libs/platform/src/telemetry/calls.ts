import { type TracingChannelSubscribers, tracingChannel } from 'node:diagnostics_channel';

/** A call to another process. It holds no key, argument, parameter or payload. */
export interface Call {
  readonly system: 'redis' | 'postgresql' | 'nats';
  /** Redis command, first word of an SQL statement, or `request`: few values exist. */
  readonly operation: string;
  /** Table or subject. */
  readonly target?: string;
  /** Headers of a message, which carry the trace context. */
  readonly carrier?: Carrier;
}

export interface Carrier {
  set(name: string, value: string): void;
  get?(name: string): string;
}

/** A `TracingChannel` of node:diagnostics_channel and the reader of its messages. */
export interface CallChannel {
  readonly name: string;
  readonly read: (message: never) => Call;
}

/** Calls that this process makes. ioredis publishes its commands itself; the other two channels are ours. */
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

/** NATS requests that this process answers. */
export const INCOMING: CallChannel = {
  name: 'scheduling-oauth:nats-response',
  read: ({ subject, headers }: { subject: string; headers?: Carrier }) => ({
    system: 'nats',
    operation: 'process',
    target: subject,
    ...(headers && { carrier: headers }),
  }),
};

/** Runs when a call begins; the function it returns runs when the call ends. */
export type BeginCall = (call: Call) => (failed: boolean) => void;

/** Subscribes to the calls of a channel. @returns unsubscribes */
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
