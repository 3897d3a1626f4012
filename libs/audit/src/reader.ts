import { randomUUID } from 'node:crypto';
import { ConnectionError, type NatsConnection } from '@nats-io/transport-node';
import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  DeliverPolicy,
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nullIfMissing } from '#messaging/nats.connection.js';
import { AUDIT_STREAMS, type AuditEvent } from './event.js';
import { type AuditFilter, matcher, sourcesOf } from './filter.js';
import { inOrder, parseEvents, RecentIds, sorted } from './read-events.js';

const TIMEOUT_MS = 5_000;
/** Messages per response from NATS; bounds the memory use. */
const BATCH = 250;
const RANGE = 1_000;
const IDLE_NS = 60e9;
/** Maximum difference between the clocks of NATS and of the processes, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
const DAY_NS = 86_400e9;

export interface AuditStreamState {
  readonly stream: string;
  /** Changes when the stream is recreated, which restarts the sequence numbers. */
  readonly created: string;
  readonly lastSequence: number;
  readonly firstSequence: number;
  readonly messages: number;
  readonly bytes: number;
  /** Time at which NATS stored the oldest remaining event; null if the stream is empty. */
  readonly first: Date | null;
  readonly maxAgeDays: number;
  readonly maxBytes: number;
  readonly replicas: number;
  readonly config: StreamConfig;
}

export interface StoredMessage {
  readonly sequence: number;
  /** Milliseconds since the epoch, by the clock of NATS. Never decreases within a stream. */
  readonly storedAt: number;
  readonly subject: string;
  readonly data: Uint8Array;
}

export type Progress = (read: number, total: number) => void;

/** Returns each event once, even if NATS has stored it twice; `messages` returns every stored message. */
export class AuditReader {
  private constructor(
    private readonly client: JetStreamClient,
    private readonly manager: JetStreamManager,
  ) {}

  static async of(nats: NatsConnection): Promise<AuditReader> {
    const client = jetstream(nats, { timeout: TIMEOUT_MS });
    return new AuditReader(client, await client.jetstreamManager(false));
  }

  /**
   * Yields the matching events that were stored before the call, oldest first, in bounded memory.
   * @throws JetStreamError, or ConnectionError if NATS stops responding
   */
  async *read(filter: AuditFilter, progress: Progress = () => undefined): AsyncGenerator<AuditEvent> {
    const matches = matcher(filter);
    const consumers = await Promise.all(
      sourcesOf(filter).map(({ stream, subject }) => {
        const start = filter.since ? startingAt(filter.since) : { deliver_policy: DeliverPolicy.All };
        return this.consumer(stream, { filter_subject: subject, ...start });
      }),
    );
    const existing = consumers.filter((consumer) => consumer !== null);
    const total = existing.reduce((sum, { pending }) => sum + pending, 0);
    let read = 0;
    const seen = new RecentIds();
    const stored = existing.map(({ consumer, pending }) =>
      sorted(storedEvents(consumer, pending, () => progress(++read, total))),
    );
    for await (const event of inOrder(stored)) if (matches(event) && seen.add(event)) yield event;
  }

  /**
   * Calls back with events stored since `filter.since`, or without `since` only with new events. Survives reconnects.
   * @throws JetStreamError
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
          for (const event of parseEvents(message.string(), message.subject))
            if (matches(event) && seen.add(event)) callback(event);
        },
      });
      signal.addEventListener('abort', () => messages.stop());
      if (signal.aborted) messages.stop();
      const error = await messages.closed();
      if (error instanceof Error && !signal.aborted) throw error;
    });
    await Promise.all(passes);
  }

  /** Yields batches of the messages from `first` to `last` that were stored before the call, in stored order. */
  async *messages(
    stream: string,
    first: number,
    last = Infinity,
    batchSize = RANGE,
  ): AsyncGenerator<readonly StoredMessage[]> {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: first };
    const created = await this.consumer(stream, start);
    if (!created) return;
    const { consumer, name } = created;
    try {
      for (let [at, left] = [first, created.pending]; left > 0 && at <= last;) {
        const batch = await fetch(consumer, Math.min(batchSize, left, last - at + 1));
        const messages = batch.map(storedMessage).filter(({ sequence }) => sequence <= last);
        if (messages.length > 0) yield messages;
        // NATS has already expired the remaining messages.
        if (batch.length === 0) return;
        left -= batch.length;
        at = (batch.at(-1)?.seq ?? last) + 1;
      }
    } finally {
      // Not awaited, because NATS deletes an unused consumer anyway.
      void this.manager.consumers.delete(stream, name).catch(() => false);
    }
  }

  async streams(): Promise<AuditStreamState[]> {
    const infos = await Promise.all(
      AUDIT_STREAMS.map(({ name }) => this.manager.streams.info(name).catch(nullIfMissing)),
    );
    return infos
      .filter((info) => info !== null)
      .map(({ config, state, created }) => ({
        stream: config.name,
        created,
        firstSequence: state.first_seq,
        lastSequence: state.last_seq,
        messages: state.messages,
        bytes: state.bytes,
        first: state.messages > 0 ? new Date(state.first_ts) : null,
        maxAgeDays: config.max_age / DAY_NS,
        maxBytes: config.max_bytes,
        replicas: config.num_replicas,
        config,
      }));
  }

  private async consumer(
    stream: string,
    start: Partial<ConsumerConfig>,
  ): Promise<{ consumer: Consumer; name: string; pending: number } | null> {
    // A named consumer puts the stream's name into the request's subject, which NATS permissions need.
    const name = `reader-${randomUUID()}`;
    const info = await this.manager.consumers
      .add(stream, {
        name,
        ack_policy: AckPolicy.None,
        inactive_threshold: IDLE_NS,
        mem_storage: true,
        ...start,
      })
      .catch(nullIfMissing);
    if (!info) return null;
    return { consumer: this.client.consumers.getConsumerFromInfo(info), name, pending: info.num_pending };
  }
}

function storedMessage({ seq, info, subject, data }: JsMsg): StoredMessage {
  return { sequence: seq, storedAt: Math.floor(info.timestampNanos / 1e6), subject, data };
}

/** Subtracts the clock skew, because NATS compares times of storage by its own clock. */
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
      yield* parseEvents(message.string(), message.subject);
    }
    if (messages.length === 0) return;
    left -= messages.length;
  }
}

/** @throws ConnectionError if NATS does not respond; the NATS client alone would wait until it reconnects */
async function fetch(consumer: Consumer, count: number): Promise<JsMsg[]> {
  const messages: JsMsg[] = [];
  const fetched = await consumer.fetch({ max_messages: count, expires: TIMEOUT_MS });
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    void fetched.close();
  }, 2 * TIMEOUT_MS);
  // Collects all messages instead of yielding each: while a caller pauses, the client would miss heartbeats and fail.
  try {
    for await (const message of fetched) {
      messages.push(message);
      if (message.info.pending === 0) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (isOverdue) throw new ConnectionError('NATS stopped responding: not all events were read');
  return messages;
}
