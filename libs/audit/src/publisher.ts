import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Counter } from 'prom-client';
import { redactCredentials } from '#platform/logging/request-log.js';
import { connectUntil, natsOptions } from '#messaging/nats.connection.js';
import { type NatsWork, useConnection } from '#messaging/use-connection.js';
import { wellFormed } from '#oauth/text.js';
import type { LogExport } from '#platform/telemetry/log-export.js';
import type { Metrics } from '#platform/telemetry/metrics.js';
import {
  AUDIT_KINDS,
  type AuditedApp,
  auditEvent,
  type AuditEvent,
  type AuditRecord,
  auditSubject,
  exportEvent,
} from './event.js';
import { type AuditMessage, storeBatch } from './store-batch.js';

/** Characters to which an oversized event's values are cut. Clients choose some values, such as client_id. */
const MAX_VALUE = 500;
/** Limit in characters, which an oversized value or a long list of values can exceed. */
const MAX_EVENT = 16_000;
const BATCH = 100;
/** Milliseconds for which a message collects events. */
const DELAY_MS = 100;
const RETRY_MS = 1_000;
const WARN_MS = 60_000;
const FLUSH_MS = 3_000;

const PREFIXES = Object.values(AUDIT_KINDS).map(({ prefix }) => prefix);

export interface AuditPublisherOptions {
  readonly service: AuditedApp;
  readonly natsUrl: string;
}

/**
 * Publishes events without blocking or failing a request. NATS drops repeated messages by id. A separate connection
 * keeps introspection fast.
 */
export class AuditPublisher implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('audit');
  private readonly waiting = new EventBuffer();
  private lost = 0;
  private nats: NatsConnection | undefined;
  private connecting: Promise<NatsConnection | null> | undefined;
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
    /** Null without a collector of logs. */
    private readonly logs: LogExport | null = null,
  ) {
    this.stored = metrics.counter(
      'oauth_audit_events_total',
      'Events that NATS stored in the audit trail',
      [],
    );
    this.dropped = metrics.counter(
      'oauth_audit_events_dropped_total',
      'Events lost to the audit trail: the buffer was full, or the process ended while NATS was unavailable',
      [],
    );
    metrics.measure(
      'oauth_audit_events_waiting',
      'Events that wait for NATS to store them',
      () => this.waiting.size,
    );
  }

  onApplicationBootstrap(): void {
    void this.open();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isShutDown = true;
    clearTimeout(this.timer);
    const exported = this.logs?.flush();
    await Promise.race([this.flush(), sleep(FLUSH_MS, undefined, { ref: false })]);
    // Forces a warning, because metrics are no longer scraped.
    this.warnedAt = -Infinity;
    if (this.waiting.size > 0) this.drop(this.waiting.size, 'the process ends, and NATS has not stored them');
    this.isClosed = true;
    await this.nats?.close();
    await exported;
  }

  get state(): { readonly waiting: number; readonly dropped: number } {
    return { waiting: this.waiting.size, dropped: this.lost };
  }

  record(record: AuditRecord): void {
    const event = auditEvent(this.options.service, record);
    const line = serialize(event);
    if (this.logs) exportEvent(this.logs, line);
    if (!this.waiting.add(event, line))
      return this.drop(1, 'the buffer is full, because NATS does not store them');
    this.schedule(DELAY_MS);
  }

  /** Lends the connection to work that needs the confirmation of NATS. Like `useConnection`. */
  use<T>(work: NatsWork<T>, limitMs?: number): Promise<T> {
    return useConnection(this.connected(), work, limitMs);
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
      // Retries failed batches as well, because NATS may have recovered.
      if (this.waiting.size > 0) this.schedule(RETRY_MS);
    });
    return this.sending;
  }

  /** Continues with the other kinds of events if NATS does not store one kind. */
  private async sendAll(): Promise<void> {
    const accepted = new Set(PREFIXES);
    for (let sent = -1; sent !== 0;) {
      sent = 0;
      for (const prefix of accepted) {
        const stored = await this.sendBatch(prefix);
        if (stored === null) accepted.delete(prefix);
        else sent += stored;
      }
    }
  }

  /** @returns the number of stored or dropped messages; null if some remain unconfirmed */
  private async sendBatch(prefix: string): Promise<number | null> {
    const batch = this.waiting.oldest(BATCH, prefix);
    // While the NATS client reconnects, it would buffer messages without a limit.
    if (batch.length === 0 || !this.nats || this.nats.isClosed() || !this.disconnected) return 0;
    const { stored, tooLarge, failure } = await storeBatch(this.nats, batch, {
      inboxPrefix: this.inboxPrefix,
      disconnected: this.disconnected.signal,
    });
    this.stored.inc(this.waiting.remove(stored));
    // Oversized messages would block all later events of their kind.
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

  private async open(): Promise<void> {
    const nats = await this.connected();
    if (!nats) return;
    this.nats = nats;
    this.onConnected();
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') this.onDisconnected();
      if (status.type === 'reconnect') this.onConnected();
      if (status.type === 'error') this.warn(`NATS: ${status.error.message}`);
    }
  }

  private connected(): Promise<NatsConnection | null> {
    const { natsUrl, service } = this.options;
    const options = natsOptions(natsUrl, `${service} audit`);
    this.inboxPrefix = options.inboxPrefix ?? this.inboxPrefix;
    return (this.connecting ??= connectUntil(
      () => this.isClosed,
      options,
      (reason) => this.warn(`NATS: ${reason}`),
    ));
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

/** Omits the details and cuts the values of an oversized event. Redacts credentials as the log does. */
export function serialize(event: AuditEvent): string {
  const text = JSON.stringify(event);
  if (text.length <= MAX_EVENT) return redactCredentials(text);
  const short = { ...event, detail: { omitted: `${text.length} characters` } };
  return redactCredentials(
    JSON.stringify(short, (_name, value: unknown) =>
      typeof value === 'string' ? wellFormed(value.slice(0, MAX_VALUE)) : value,
    ),
  );
}

/** An event has about 400 characters. */
const MAX_EVENTS = 20_000;
const MAX_CHARACTERS = 16_000_000;
/** Fill level up to which the buffer accepts a kind: any client can cause refusals, and any user can cause activity. */
const SHARES: readonly (readonly [prefix: string, share: number])[] = [
  [AUDIT_KINDS.refusals.prefix, 0.5],
  [AUDIT_KINDS.activity.prefix, 0.9],
  [AUDIT_KINDS.trail.prefix, 1],
];
/** Limit in characters, which have at most three bytes each. In our manifests, NATS accepts messages of 128 KB. */
const MAX_MESSAGE = 32_000;

interface OpenMessage extends AuditMessage {
  readonly lines: string[];
  characters: number;
}

/**
 * Bounded buffer of events. Events of one type share a message, because separate messages cost four times the CPU in
 * this process and in NATS.
 */
class EventBuffer {
  private messages: OpenMessage[] = [];
  /** Messages that accept more events, by subject. */
  private readonly open = new Map<string, OpenMessage>();
  private characters = 0;
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(event: AuditEvent, line: string): boolean {
    const subject = auditSubject(event);
    const [, share = 1] = SHARES.find(([prefix]) => subject.startsWith(prefix)) ?? [];
    if (this.count >= MAX_EVENTS * share || this.characters + line.length > MAX_CHARACTERS * share)
      return false;
    let message = this.open.get(subject);
    if (!message || message.characters + line.length > MAX_MESSAGE) {
      message = { id: event.id, subject, lines: [], characters: 0 };
      this.open.set(subject, message);
      this.messages.push(message);
    }
    message.lines.push(line);
    message.characters += line.length;
    this.characters += line.length;
    this.count += 1;
    return true;
  }

  /** Returns the oldest messages of a kind. Closes all messages, so that a retry sends the same contents. */
  oldest(count: number, prefix: string): readonly AuditMessage[] {
    this.open.clear();
    return this.messages.filter(({ subject }) => subject.startsWith(prefix)).slice(0, count);
  }

  /** @returns the number of events in these messages */
  remove(stored: ReadonlySet<AuditMessage>): number {
    const before = this.count;
    this.messages = this.messages.filter((message) => !stored.has(message));
    this.count = this.messages.reduce((sum, { lines }) => sum + lines.length, 0);
    this.characters = this.messages.reduce((sum, { characters }) => sum + characters, 0);
    return before - this.count;
  }
}
