/** A call between processes, as far as it may be told: no key, argument, parameter or payload is in it. */
export interface Call {
  readonly system: 'redis' | 'postgresql' | 'nats';
  /** Redis command, first word of a statement, or `request`. Few different ones exist. */
  readonly operation: string;
  /** Table or subject. */
  readonly target?: string;
  /** A message's headers, in which a trace goes on. */
  readonly carrier?: Carrier;
}

export interface Carrier {
  set(name: string, value: string): void;
  get?(name: string): string;
}

/** A `TracingChannel` of node:diagnostics_channel, and how what it tells is read. */
export interface CallChannel {
  readonly name: string;
  readonly read: (message: never) => Call;
}

/** Calls that this process makes. The driver of Redis tells of its commands by itself; the other two are ours. */
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

/** Requests over NATS that this process answers. */
export const INCOMING: CallChannel = {
  name: 'scheduling-oauth:nats-response',
  read: ({ subject, headers }: { subject: string; headers?: Carrier }) => ({
    system: 'nats',
    operation: 'process',
    target: subject,
    ...(headers && { carrier: headers }),
  }),
};
