import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DynamicModule,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Counter } from 'prom-client';
import { type Clock, CLOCK } from '#platform/clock.js';
import { messageOf } from '#platform/errors.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { StatusReport } from '#platform/status/status-report.js';
import { connectUntil, natsOptions } from '../nats.connection.js';
import {
  LOGOUT_SUBJECTS,
  type LogoutSource,
  type SessionsEnded,
  sessionsEnded,
  storeLogout,
} from './logout-queue.js';

/** Maximum number of buffered events. An event has about 110 characters. */
const MAX_EVENTS = 20_000;
const RETRY_MS = 1_000;
/** Milliseconds that a shutdown waits for NATS. */
const FLUSH_MS = 3_000;

export interface LogoutPublisherOptions {
  readonly service: LogoutSource;
  readonly natsUrl: string;
  /** False without OpenID Connect, because then no client receives logout tokens. */
  readonly isEnabled: boolean;
}

/** Keeps events in a bounded buffer until NATS has stored them. Callers get no errors. NATS drops duplicates by id. */
export class LogoutPublisher implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('logout');
  private readonly waiting: SessionsEnded[] = [];
  private lost = 0;
  private nats: NatsConnection | undefined;
  private isClosed = false;
  private sending: Promise<void> | undefined;
  private readonly dropped: Counter;

  constructor(
    private readonly options: LogoutPublisherOptions,
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.dropped = metrics.counter(
      'oauth_logout_events_dropped_total',
      'Ends of sessions that no client will learn of: the buffer was full, or the process ended while NATS was unavailable',
      [],
    );
    metrics.measure(
      'oauth_logout_events_waiting',
      'Ends of sessions that wait for NATS to store them',
      () => this.waiting.length,
    );
  }

  onApplicationBootstrap(): void {
    if (this.options.isEnabled) void this.open();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.race([this.send(), sleep(FLUSH_MS, undefined, { ref: false })]);
    this.isClosed = true;
    if (this.waiting.length > 0) this.drop(this.waiting.length, 'the process ends');
    await this.nats?.close();
  }

  get isEnabled(): boolean {
    return this.options.isEnabled;
  }

  get state(): { readonly waiting: number; readonly dropped: number } {
    return { waiting: this.waiting.length, dropped: this.lost };
  }

  sessionEnded(session: string): void {
    this.add(sessionsEnded({ session }, this.clock()));
  }

  userEnded(userId: number): void {
    this.add(sessionsEnded({ user_id: userId }, this.clock()));
  }

  private add(event: SessionsEnded): void {
    if (!this.options.isEnabled) return;
    if (this.waiting.length >= MAX_EVENTS) return this.drop(1, 'the buffer is full');
    this.waiting.push(event);
    void this.send();
  }

  private send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private async sendAll(): Promise<void> {
    const subject = LOGOUT_SUBJECTS.ended(this.options.service);
    for (let warned = false; !this.isClosed;) {
      const [next] = this.waiting;
      if (!next) return;
      try {
        if (!this.nats || this.nats.isClosed()) throw new Error('not connected yet');
        await storeLogout(this.nats, subject, next);
        this.waiting.shift();
      } catch (error) {
        const reason = messageOf(error);
        if (!warned) this.logger.warn({ ...this.state, msg: `ends of sessions wait for NATS: ${reason}` });
        warned = true;
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  private drop(count: number, reason: string): void {
    this.lost += count;
    this.dropped.inc(count);
    this.logger.error({
      ...this.state,
      msg: `ends of sessions are lost, and no client learns of them: ${reason}`,
    });
  }

  private async open(): Promise<void> {
    const { natsUrl, service } = this.options;
    const nats = await connectUntil(() => this.isClosed, natsOptions(natsUrl, `${service} logout`));
    if (nats) this.nats = nats;
  }
}

@Module({})
export class LogoutQueueModule {
  constructor(publisher: LogoutPublisher, status: StatusReport) {
    if (publisher.isEnabled) status.register('logouts', () => publisher.state);
  }

  static forRoot(options: LogoutPublisherOptions): DynamicModule {
    const provider = {
      provide: LogoutPublisher,
      inject: [Metrics, CLOCK],
      useFactory: (metrics: Metrics, clock: Clock) => new LogoutPublisher(options, metrics, clock),
    };
    return { module: LogoutQueueModule, global: true, providers: [provider], exports: [LogoutPublisher] };
  }
}
