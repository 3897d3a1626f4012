import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { AuditPublisher } from '#audit/publisher.js';
import type { Client } from '#clients/client.js';
import { ClientStore } from '#clients/client.store.js';
import { EventStore, type StoredEvent } from '#events/event.store.js';
import {
  type EventStream,
  EventStreamStore,
  type FailedAttempt,
  type Lease,
  PAUSED_BECAUSE_UNREACHABLE,
} from '#events/event-stream.store.js';
import type { EventOutcome } from '#events/event-stream.entity.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
import { BackgroundLoop } from '#platform/background-loop.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OutsideFetchError } from '#platform/http/outside-http.js';
import { DependencyUnavailableError, messageOf } from '#platform/errors.js';
import { EventCounter } from './event-counter.js';
import { type Attempt, SecurityEventDelivery } from './security-event-delivery.js';
import { LogoutDelivery } from './logout-delivery.js';

/**
 * Streams that one process pushes at a time. Slow ones have their own places, so that they do not delay the others. A
 * dead receiver occupies a place for 5 seconds per attempt.
 */
const PLACES = { quick: 40, slow: 10 } as const;
/** A receiver whose latest answer took longer is slow. */
const SLOW_MS = 1_000;
const LEASE_S = 60;
/**
 * A stream occupies a place for at most this time and one attempt, so that receivers just below SLOW_MS with many
 * events do not delay the others. The last attempt ends long before the lease.
 */
const BUSY_MS = 5_000;
/** An error of our own that recurs must not send the same event every second. */
const RETRY_INTERRUPTED_S = 5;
const BATCH = 50;
const INTERVALS = { pass: 1_000, retry: 1_000 } as const;
const EXPIRY = { pass: 60_000, retry: 10_000 } as const;

const CHECKS = {
  delayed: { event: 'event_delayed', logout: 'logout_token_delayed' },
  refused: { event: 'event_refused', logout: 'logout_token_refused' },
  paused: { event: 'event_stream_paused', logout: 'logout_tokens_paused' },
} as const;
type Trouble = keyof typeof CHECKS;

/**
 * Sends security event tokens and logout tokens. A stream is leased, so that its events are sent one after the other.
 * An event is sent again until the receiver answers, with the same `jti`.
 */
@Injectable()
export class EventPushService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('events');
  private readonly quick = new Map<string, Promise<void>>();
  private readonly slow = new Map<string, Promise<void>>();
  private readonly pushing: BackgroundLoop;
  private readonly expiry: BackgroundLoop;
  /** Leases whose work an outage of our own servers has interrupted. */
  private readonly interrupted = new Set<Lease>();
  private isClosed = false;

  constructor(
    private readonly streams: EventStreamStore,
    private readonly events: EventStore,
    private readonly clients: ClientStore,
    private readonly keys: SigningKeys,
    private readonly pushes: SecurityEventDelivery,
    private readonly logouts: LogoutDelivery,
    private readonly audit: AuditPublisher,
    private readonly counter: EventCounter,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const onFailure = (reason: string) => this.logger.error(`events wait: ${reason}`);
    this.pushing = new BackgroundLoop(() => this.pass(), INTERVALS, onFailure);
    this.expiry = new BackgroundLoop(() => this.expire(), EXPIRY, onFailure);
  }

  onApplicationBootstrap(): void {
    this.expiry.run();
    if (!this.keys.isEmpty) this.pushing.run();
  }

  /** Finishes the attempts that have begun. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    this.expiry.stop();
    this.pushing.stop();
    await Promise.all([...this.quick.values(), ...this.slow.values()]);
  }

  private async expire(): Promise<void> {
    for (const { delivery, expired } of await this.events.expire())
      this.counter.count('expired', delivery, expired);
  }

  private async pass(): Promise<void> {
    for (const lease of this.interrupted) {
      await this.streams.release(lease, null, RETRY_INTERRUPTED_S);
      this.interrupted.delete(lease);
    }
    await this.occupy(this.quick, PLACES.quick, false);
    await this.occupy(this.slow, PLACES.slow, true);
  }

  private async occupy(active: Map<string, Promise<void>>, places: number, isSlow: boolean): Promise<void> {
    if (active.size >= places) return;
    for (const lease of await this.streams.leaseDue(places - active.size, LEASE_S, isSlow)) {
      const pushed = this.pushAll(lease)
        .catch((error: unknown) => {
          this.logger.error(`events wait: ${messageOf(error)}`);
          this.interrupted.add(lease);
        })
        .finally(() => active.delete(lease.id));
      active.set(lease.id, pushed);
    }
  }

  private async pushAll(lease: Lease): Promise<void> {
    const end = this.clock() + BUSY_MS;
    let isSlow: boolean | null = null;
    for (;;) {
      const client = await this.clients.find(lease.clientId);
      // Events about users wait while the client is disabled, as they do for a client that polls.
      const aboutClient = client?.disabledAt !== null && !lease.isLogout;
      const batch = client ? await this.events.outstanding(lease.id, BATCH, aboutClient) : [];
      if (!client || batch.length === 0) return this.streams.release(lease, isSlow);
      for (const event of batch) {
        if (this.isClosed || this.clock() > end) return this.streams.release(lease, isSlow);
        const subject = event.userId === null ? null : subjectOf(client, event.userId);
        const stream = await this.streams.held(lease, subject);
        if (!stream) return this.streams.release(lease, isSlow);
        const isExcluded = lease.isLogout ? stream.isDisabled : stream.isExcluded;
        if (isExcluded) await this.finish(stream, event, 'excluded', null);
        if (isExcluded) continue;
        // Reads the events again, because the client may be enabled before the last of them, and order matters.
        if (stream.isDisabled && subject !== null) break;
        const began = this.clock();
        const attempt = await this.send(client, stream, event);
        const isFirst = isSlow !== null;
        isSlow = this.clock() - began > SLOW_MS;
        if (attempt.outcome === 'failed')
          return this.fail(lease, stream, event, attempt, { isFirst, isSlow });
        await this.finish(stream, event, attempt.outcome, attempt.answer);
        if (attempt.outcome === 'refused') this.report('refused', stream, event, attempt);
        if (isSlow && !lease.isSlow) return this.streams.release(lease, isSlow);
      }
    }
  }

  private async finish(
    { id, delivery }: EventStream,
    { jti }: StoredEvent,
    outcome: EventOutcome,
    answer: string | null,
  ): Promise<void> {
    await this.events.finish(id, [jti], outcome, answer);
    this.counter.count(outcome, delivery);
  }

  private async send(client: Client, stream: EventStream, event: StoredEvent): Promise<Attempt> {
    const alg = client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
    if (!this.keys.has(alg)) return { outcome: 'failed', answer: `no key of ${alg} signs` };
    try {
      const delivery = stream.delivery === 'logout' ? this.logouts : this.pushes;
      return await delivery.send(client, stream, event);
    } catch (error) {
      // An outage of our own servers is not a failure of the receiver.
      if (error instanceof DependencyUnavailableError) throw error;
      if (error instanceof OutsideFetchError) {
        const isForbidden = error.reason === 'address_refused';
        return { outcome: 'failed', answer: error.message.slice(0, 255), isForbidden };
      }
      const { jti, type } = event;
      this.logger.error({ jti, event: type, cause: messageOf(error), msg: 'event cannot be sent' });
      return { outcome: 'failed', answer: 'an error of the service, which its log describes' };
    }
  }

  private async fail(
    lease: Lease,
    stream: EventStream,
    event: StoredEvent,
    attempt: Attempt,
    how: Omit<FailedAttempt, 'endpointUrl'>,
  ): Promise<void> {
    this.counter.count('failed', stream.delivery);
    await this.events.recordAttempt(event.jti, attempt.answer);
    const isPaused = await this.streams.releaseFailed(lease, { endpointUrl: stream.endpointUrl, ...how });
    if (isPaused) return this.pause(stream, event, attempt);
    // Further failures usually have the same cause.
    this.report('delayed', stream, event, attempt, stream.failures === 0 || how.isFirst);
  }

  private async pause(stream: EventStream, event: StoredEvent, attempt: Attempt): Promise<void> {
    // Section 8.1.5: the receiver learns of the pause when the stream continues.
    if (stream.delivery === 'push')
      await this.events.record(stream.id, 'stream-updated', {
        status: 'paused',
        reason: PAUSED_BECAUSE_UNREACHABLE,
      });
    this.report('paused', stream, event, attempt);
  }

  /** @param isRecorded false for the log only */
  private report(
    outcome: Trouble,
    stream: EventStream,
    { jti, type, userId, attempts }: StoredEvent,
    { answer: failure, isForbidden = false }: Attempt,
    isRecorded = true,
  ): void {
    const { clientId: client_id, delivery } = stream;
    const isLogout = delivery === 'logout';
    const what = isLogout ? 'logout token' : 'event';
    const msg = {
      delayed: `${what} not delivered yet`,
      refused: `${what} refused`,
      paused: 'event stream paused',
    }[outcome];
    this.logger[outcome === 'delayed' ? 'warn' : 'error']({ client_id, jti, event: type, failure, msg });
    if (!isRecorded) return;
    this.audit.record({
      type: isLogout ? 'logout_token.failed' : 'event.failed',
      client_id,
      ...(userId !== null && { user_id: userId }),
      check:
        isForbidden && isLogout ? 'logout_address_forbidden' : CHECKS[outcome][isLogout ? 'logout' : 'event'],
      detail: { jti, event: type, outcome, failure, attempts: attempts + 1 },
    });
  }
}
