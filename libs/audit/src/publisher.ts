import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Counter } from 'prom-client';
import { redactCredentials } from '#platform/logging/logger.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import type { Metrics } from '#platform/telemetry/metrics.js';
import { AUDIT_KINDS, type AuditEvent, auditEvent, type AuditRecord, type AuditService } from './event.js';
import { EventBuffer } from './event-buffer.js';
import { storeBatch } from './store-batch.js';

/** Of each value of an event that is longer than that: a client_id, for example, that nobody has registered. */
const MAX_VALUE = 500;
/** In characters; longer than any event whose values have the permitted lengths. */
const MAX_EVENT = 16_000;
/** Messages in one batch. */
const BATCH = 100;
/** Milliseconds that an event waits for others of its message, and until a failed batch is repeated. */
const DELAY_MS = 100;
const RETRY_MS = 1_000;
const WARN_MS = 60_000;
/** How long a shutdown waits for NATS, in milliseconds. */
const FLUSH_MS = 3_000;

const PREFIXES = Object.values(AUDIT_KINDS).map(({ prefix }) => prefix);

export interface AuditPublisherOptions {
  readonly service: AuditService;
  readonly natsUrl: string;
}

/**
 * Publishes events of the audit trail in the background. `record` never waits and never fails: events wait in a bounded buffer until
 * NATS has stored them, also over a restart of NATS. An event that is sent again has the same id, by which NATS drops it. The
 * connection is its own, so that events do not delay introspection.
 */
export class AuditPublisher implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('audit');
  private readonly waiting = new EventBuffer();
  private lost = 0;
  private nats: NatsConnection | undefined;
  private inboxPrefix = '_INBOX';
  private disconnected: AbortController | null = null;
  private isShutDown = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  private warnedAt = -Infinity;
  private readonly stored: Counter;
  private readonly dropped: Counter;

  constructor(
    private readonly options: AuditPublisherOptions,
    metrics: Metrics,
  ) {
    this.stored = metrics.counter(
      'oauth_audit_events_total',
      'Events that NATS stored in the audit trail',
      [],
    );
    this.dropped = metrics.counter(
      'oauth_audit_events_dropped_total',
      'Events lost to the audit trail: the buffer was full, or the process ended while NATS was away',
      [],
    );
    const gauge = metrics.gauge('oauth_audit_events_waiting', 'Events that wait for NATS to store them', []);
    Object.assign(gauge, { collect: () => gauge.set(this.waiting.size) });
  }

  onApplicationBootstrap(): void {
    void this.open();
  }

  /** The last request is answered by now. */
  async onApplicationShutdown(): Promise<void> {
    this.isShutDown = true;
    clearTimeout(this.timer);
    await Promise.race([this.flush(), sleep(FLUSH_MS, undefined, { ref: false })]);
    // The last word about them: no metric is read any more.
    this.warnedAt = -Infinity;
    if (this.waiting.size > 0) this.drop(this.waiting.size, 'the process ends, and NATS does not store them');
    this.isClosed = true;
    await this.nats?.close();
  }

  get state(): { readonly waiting: number; readonly dropped: number } {
    return { waiting: this.waiting.size, dropped: this.lost };
  }

  record(record: AuditRecord): void {
    const event = auditEvent(this.options.service, record);
    if (!this.waiting.add(event, serialize(event)))
      return this.drop(1, 'too many wait for NATS to store them');
    this.schedule(DELAY_MS);
  }

  private schedule(delay: number): void {
    if (this.timer || this.sending || this.isShutDown) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.send();
    }, delay).unref();
  }

  private send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      // Also what failed: meanwhile NATS may be back, or have got room.
      if (this.waiting.size > 0) this.schedule(RETRY_MS);
    });
    return this.sending;
  }

  /** Sends batch after batch, until nothing waits or NATS does not store it: what is not stored of one kind holds up no other. */
  private async sendAll(): Promise<void> {
    const taking = new Set(PREFIXES);
    for (let sent = -1; sent !== 0;) {
      sent = 0;
      for (const prefix of taking) {
        const stored = await this.sendBatch(prefix);
        if (stored === null) taking.delete(prefix);
        else sent += stored;
      }
    }
  }

  /** @returns the number of messages; null if NATS did not store all of them */
  private async sendBatch(prefix: string): Promise<number | null> {
    const batch = this.waiting.oldest(BATCH, prefix);
    // The client would keep what is published while it reconnects, without a bound.
    if (batch.length === 0 || !this.nats || this.nats.isClosed() || !this.disconnected) return 0;
    const { stored, tooLarge, failure } = await storeBatch(this.nats, batch, {
      inboxPrefix: this.inboxPrefix,
      disconnected: this.disconnected.signal,
    });
    this.stored.inc(this.waiting.remove(stored));
    // To keep them would hold up all later events of their kind.
    if (tooLarge.size > 0)
      this.drop(this.waiting.remove(tooLarge), 'they are larger than the max_payload of NATS');
    const done = stored.size + tooLarge.size;
    if (done < batch.length) this.warn(`events wait: ${failure}`);
    return done === batch.length ? done : null;
  }

  private async flush(): Promise<void> {
    for (; this.waiting.size > 0; await sleep(DELAY_MS, undefined, { ref: false })) await this.send();
  }

  private drop(count: number, reason: string): void {
    this.lost += count;
    this.dropped.inc(count);
    this.warn(`events are lost: ${reason}`);
  }

  private warn(problem: string): void {
    const now = performance.now();
    if (now - this.warnedAt < WARN_MS) return;
    this.warnedAt = now;
    this.logger.warn({ ...this.state, msg: `audit trail: ${problem}` });
  }

  /** Retries the first connection itself, because the client would go on trying after this process has shut down. */
  private async open(): Promise<void> {
    const { natsUrl, service } = this.options;
    const options = { ...natsOptions(natsUrl, `${service} audit`), waitOnFirstConnect: false };
    this.inboxPrefix = options.inboxPrefix ?? this.inboxPrefix;
    while (!this.isClosed) {
      try {
        const nats = await connect(options);
        if (this.isClosed) return await nats.close();
        this.nats = nats;
        return await this.use(nats);
      } catch (error) {
        this.warn(`NATS: ${messageOf(error)}`);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  private async use(nats: NatsConnection): Promise<void> {
    this.onConnected();
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') this.onDisconnected();
      if (status.type === 'reconnect') this.onConnected();
      if (status.type === 'error') this.warn(`NATS: ${status.error.message}`);
    }
  }

  private onDisconnected(): void {
    this.disconnected?.abort();
    this.disconnected = null;
  }

  private onConnected(): void {
    this.disconnected = new AbortController();
    void this.send();
  }
}

/** Leaves out details that are too long to store, and shortens credentials, as the log does. */
function serialize(event: AuditEvent): string {
  const text = JSON.stringify(event);
  if (text.length <= MAX_EVENT) return redactCredentials(text);
  const short = { ...event, detail: { omitted: `${text.length} characters` } };
  return redactCredentials(
    JSON.stringify(short, (_name, value: unknown) =>
      typeof value === 'string' ? value.slice(0, MAX_VALUE) : value,
    ),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
