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
import { isObject } from '#platform/nats/nats-message.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import { AUDIT_KINDS, AUDIT_STREAMS, type AuditEvent, auditSubject } from './event.js';
import { type AuditFilter, matcher, sourcesOf } from './filter.js';
import { inOrder, RecentIds, sorted } from './in-order.js';
import { nullIfMissing } from './streams.js';

const TIMEOUT_MS = 5_000;
/** Messages in one answer of NATS. Bounds the memory. */
const BATCH = 250;
/** NATS deletes a consumer that nobody has read from for so long. */
const IDLE_NS = 60e9;
/** How far the clocks of NATS and of the processes may differ, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
const DAY_NS = 86_400e9;

/** What NATS stores of one stream. */
export interface AuditStreamState {
  readonly stream: string;
  readonly messages: number;
  readonly bytes: number;
  /** When NATS stored the oldest event that it still has; null if the stream is empty. */
  readonly first: Date | null;
  readonly maxAgeDays: number;
  readonly maxBytes: number;
  readonly replicas: number;
  readonly config: StreamConfig;
}

/** Reports how many stored messages have been read, with matching events or not. */
type Progress = (read: number, total: number) => void;

/** Reads the audit trail. Returns each event once, even if NATS stores it twice. */
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
   * The stored events that match, oldest first, at bounded memory. Ends with the last event that was stored at the call. A stream
   * that does not exist has no events.
   *
   * @throws JetStreamError if NATS does not answer, has no JetStream or does not permit it
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
   * Calls back with each matching event: those stored since `filter.since`, without it only new ones. Goes on by itself after NATS
   * was away.
   *
   * @param signal ends it
   * @throws JetStreamError if NATS does not answer, has no JetStream or no such stream, or does not permit it
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

  /** What NATS stores, and for how long; without the streams that do not exist. */
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

  /** A consumer for one pass over a stream, and how many events it will deliver; null if there is no such stream. */
  private async consumer(
    { stream, subject }: { stream: string; subject: string },
    { since }: AuditFilter,
  ): Promise<{ consumer: Consumer; pending: number } | null> {
    const info = await this.manager.consumers
      .add(stream, {
        // A name puts the stream into the subject of the request, for the permissions of NATS.
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

/** NATS selects by the time at which it stored an event, which is after the event's own. */
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
    // The rest was the oldest, which NATS deleted meanwhile.
    if (messages.length === 0) return;
    left -= messages.length;
  }
}

/**
 * At most so many messages; none if the stream has no more.
 *
 * @throws Error if NATS does not answer: the client itself waits until it has reconnected
 */
async function fetch(consumer: Consumer, count: number): Promise<JsMsg[]> {
  const messages: JsMsg[] = [];
  const fetched = await consumer.fetch({ max_messages: count, expires: TIMEOUT_MS });
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    void fetched.close();
  }, 2 * TIMEOUT_MS);
  // To the end before any of it is used: while a caller pauses, the client waits in vain for heartbeats, and fails.
  try {
    for await (const message of fetched) {
      messages.push(message);
      if (message.info.pending === 0) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (isOverdue) throw new Error('NATS does not answer any more: not all events were read');
  return messages;
}

/** The events of a message, one per line. Others may publish to the stream's subjects: what is no event is left out. */
function eventsOf(message: JsMsg): AuditEvent[] {
  return message
    .string()
    .split('\n')
    .map((line) => parseEvent(line, message.subject))
    .filter((event) => event !== null);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Null also for an event that its publisher may not publish. */
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

/** An event with other fields than these would end the whole reading, and with it every search, for as long as NATS keeps it. */
const FIELDS: Readonly<Record<keyof AuditEvent, Check>> = {
  version: (value) => typeof value === 'number',
  id: isText,
  // The pattern alone would accept the month 13.
  time: (value) => isText(value) && TIME.test(value as string) && !Number.isNaN(Date.parse(value as string)),
  type: isText,
  service: isText,
  reference: isOptionalText,
  client_id: isOptionalText,
  user_id: isOptionalNumber,
  grant_id: isOptionalText,
  operator: isOptionalText,
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
 * Checks that an event has the service and type of its subject, which NATS's permissions protect. Only events of the operator
 * name the user of a command. A later version may have types that this version does not know, of any kind.
 */
function isPublishable(event: AuditEvent, subject: string): boolean {
  const { service, type, operator } = event;
  if (operator !== undefined && service !== 'operator') return false;
  const known = auditSubject(event);
  if (known !== '') return subject === known;
  return Object.values(AUDIT_KINDS).some(({ prefix }) => subject === `${prefix}${service}.${type}`);
}
