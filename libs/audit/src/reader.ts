import { randomUUID } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type StreamConfig,
} from '@nats-io/jetstream';
import { isObject } from '#messaging/nats-message.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { AUDIT_KINDS, AUDIT_STREAMS, type AuditEvent, auditSubject } from './event.js';
import { type AuditFilter, matcher, sourcesOf } from './filter.js';
import { inOrder, RecentIds, sorted } from './in-order.js';
import { nullIfMissing } from './streams.js';

const TIMEOUT_MS = 5_000;
/** Messages per response of NATS, which bounds the memory. */
const BATCH = 250;
/** NATS deletes a consumer that has been idle for this long. */
const IDLE_NS = 60e9;
/** Maximum difference between the clocks of NATS and of the processes, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
const DAY_NS = 86_400e9;

export interface AuditStreamState {
  readonly stream: string;
  readonly messages: number;
  readonly bytes: number;
  /** When NATS stored the oldest remaining event; null if the stream is empty. */
  readonly first: Date | null;
  readonly maxAgeDays: number;
  readonly maxBytes: number;
  readonly replicas: number;
  readonly config: StreamConfig;
}

/** Called with the number of messages read, with or without matching events. */
type Progress = (read: number, total: number) => void;

/** Returns each event once, even if NATS has stored it twice. */
export class AuditReader {
  private constructor(
    private readonly nats: NatsConnection,
    private readonly client: JetStreamClient,
    private readonly manager: JetStreamManager,
  ) {}

  /** @throws Error if NATS does not answer */
  static async open(natsUrl: string, name = 'operator'): Promise<AuditReader> {
    const once = { timeout: TIMEOUT_MS, waitOnFirstConnect: false };
    const nats = await connect({ ...natsOptions(natsUrl, name), ...once });
    const client = jetstream(nats, { timeout: TIMEOUT_MS });
    return new AuditReader(nats, client, await client.jetstreamManager(false));
  }

  async close(): Promise<void> {
    await this.nats.close();
  }

  /**
   * Yields matching events, oldest first, in bounded memory, up to the last one stored at the call. A missing stream has no events.
   * @throws JetStreamError if NATS does not answer, has no JetStream or denies permission
   */
  async *read(filter: AuditFilter, progress: Progress = () => undefined): AsyncGenerator<AuditEvent> {
    const matches = matcher(filter);
    const consumers = await Promise.all(sourcesOf(filter).map((source) => this.consumer(source, filter)));
    const found = consumers.filter((consumer) => consumer !== null);
    const total = found.reduce((sum, { pending }) => sum + pending, 0);
    let read = 0;
    const seen = new RecentIds();
    const stored = found.map(({ consumer, pending }) =>
      sorted(storedEvents(consumer, pending, () => progress(++read, total))),
    );
    for await (const event of inOrder(stored)) if (matches(event) && seen.add(event.id)) yield event;
  }

  /**
   * Calls back with matching events stored since `filter.since`, or only with new ones. Continues after NATS reconnects.
   * @throws JetStreamError if NATS does not answer, has no JetStream or no such stream, or denies permission
   */
  async follow(
    filter: AuditFilter,
    signal: AbortSignal,
    callback: (event: AuditEvent) => void,
  ): Promise<void> {
    const matches = matcher(filter);
    const seen = new RecentIds();
    const from = filter.since ? startingAt(filter.since) : { deliver_policy: DeliverPolicy.New };
    const passes = sourcesOf(filter).map(async ({ stream, subject }) => {
      const consumer = await this.client.consumers.get(stream, { filter_subjects: subject, ...from });
      const messages = await consumer.consume({
        callback: (message) => {
          for (const event of eventsOf(message)) if (matches(event) && seen.add(event.id)) callback(event);
        },
      });
      signal.addEventListener('abort', () => messages.stop());
      if (signal.aborted) messages.stop();
      const error = await messages.closed();
      if (error instanceof Error && !signal.aborted) throw error;
    });
    await Promise.all(passes);
  }

  /** Skips streams that do not exist. */
  async streams(): Promise<AuditStreamState[]> {
    const infos = await Promise.all(
      AUDIT_STREAMS.map(({ name }) => this.manager.streams.info(name).catch(nullIfMissing)),
    );
    return infos
      .filter((info) => info !== null)
      .map(({ config, state }) => ({
        stream: config.name,
        messages: state.messages,
        bytes: state.bytes,
        first: state.messages > 0 ? new Date(state.first_ts) : null,
        maxAgeDays: config.max_age / DAY_NS,
        maxBytes: config.max_bytes,
        replicas: config.num_replicas,
        config,
      }));
  }

  /** Creates a consumer for one pass; null if the stream does not exist. */
  private async consumer(
    { stream, subject }: { stream: string; subject: string },
    { since }: AuditFilter,
  ): Promise<{ consumer: Consumer; pending: number } | null> {
    const info = await this.manager.consumers
      .add(stream, {
        // With a name, the request's subject contains the stream, which NATS permissions need.
        name: `reader-${randomUUID()}`,
        filter_subject: subject,
        ack_policy: AckPolicy.None,
        inactive_threshold: IDLE_NS,
        mem_storage: true,
        ...(since ? startingAt(since) : { deliver_policy: DeliverPolicy.All }),
      })
      .catch(nullIfMissing);
    return info && { consumer: this.client.consumers.getConsumerFromInfo(info), pending: info.num_pending };
  }
}

/** NATS selects by the time at which it stored an event, which is later than the event. */
function startingAt(since: Date): { deliver_policy: typeof DeliverPolicy.StartTime; opt_start_time: string } {
  return {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(since.getTime() - CLOCK_SKEW_MS).toISOString(),
  };
}

async function* storedEvents(
  consumer: Consumer,
  pending: number,
  read: () => void,
): AsyncGenerator<AuditEvent> {
  for (let left = pending; left > 0;) {
    const messages = await fetch(consumer, Math.min(BATCH, left));
    for (const message of messages) {
      read();
      yield* eventsOf(message);
    }
    // NATS has already expired the remaining messages.
    if (messages.length === 0) return;
    left -= messages.length;
  }
}

/** @throws Error if NATS does not answer; the client would wait until it reconnects */
async function fetch(consumer: Consumer, count: number): Promise<JsMsg[]> {
  const messages: JsMsg[] = [];
  const fetched = await consumer.fetch({ max_messages: count, expires: TIMEOUT_MS });
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    void fetched.close();
  }, 2 * TIMEOUT_MS);
  // Reads to the end before yielding: while a caller pauses, the client would miss heartbeats and fail.
  try {
    for await (const message of fetched) {
      messages.push(message);
      if (message.info.pending === 0) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (isOverdue) throw new Error('NATS stopped responding: not all events were read');
  return messages;
}

/** Skips lines that are not events: others may publish to the subject. */
function eventsOf(message: JsMsg): AuditEvent[] {
  return message
    .string()
    .split('\n')
    .map((line) => parseEvent(line, message.subject))
    .filter((event) => event !== null);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Returns null for an invalid event, or one that its publisher may not publish. */
function parseEvent(line: string, subject: string): AuditEvent | null {
  try {
    const event: unknown = JSON.parse(line);
    return isEvent(event) && isPublishable(event, subject) ? event : null;
  } catch {
    return null;
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isOptionalText: Check = (value) => value === undefined || isText(value);
const isOptionalNumber: Check = (value) => value === undefined || typeof value === 'number';

/** An event with invalid fields would break every search for as long as NATS keeps it. */
const FIELDS: Readonly<Record<keyof AuditEvent, Check>> = {
  version: (value) => typeof value === 'number',
  id: isText,
  // The pattern alone accepts month 13.
  time: (value) => isText(value) && TIME.test(value as string) && !Number.isNaN(Date.parse(value as string)),
  type: isText,
  service: isText,
  reference: isOptionalText,
  client_id: isOptionalText,
  user_id: isOptionalNumber,
  grant_id: isOptionalText,
  operator: isOptionalText,
  door: isOptionalText,
  request: (value) =>
    value === undefined || (isObject(value) && isText(value['method']) && isText(value['path'])),
  address: isOptionalText,
  user_agent: isOptionalText,
  status: isOptionalNumber,
  error: isOptionalText,
  check: isOptionalText,
  description: isOptionalText,
  detail: (value) => value === undefined || isObject(value),
};

function isEvent(value: unknown): value is AuditEvent {
  return isObject(value) && Object.entries(FIELDS).every(([name, check]) => check(value[name]));
}

/**
 * Requires the service and type of the subject, which NATS permissions protect. Only the operator app may set `operator`. A later
 * version may have new types of any kind.
 */
function isPublishable(event: AuditEvent, subject: string): boolean {
  const { service, type, operator } = event;
  if (operator !== undefined && service !== 'operator') return false;
  const known = auditSubject(event);
  if (known !== '') return subject === known;
  return Object.values(AUDIT_KINDS).some(({ prefix }) => subject === `${prefix}${service}.${type}`);
}
