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
  PAUSED_BECAUSE_UNREACHABLE,
} from '#events/event-stream.store.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { BackgroundLoop } from '#platform/background-loop.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OutsideFetchError, OutsideHttp } from '#platform/http/outside-http.js';
import { messageOf } from '#platform/errors.js';
import { EventCounter } from './event-counter.js';
import { HeaderSeal } from './header-seal.js';
import { SecurityEventTokens } from './security-event-tokens.js';

/** Streams that one process pushes at a time. A dead receiver occupies one of them for 5 seconds per attempt. */
const MAX_STREAMS = 50;
const LEASE_S = 60;
/** A process pushes for at most this time per lease, so that its last attempt ends before the lease. */
const BUSY_MS = 45_000;
const BATCH = 50;
const INTERVALS = { pass: 1_000, retry: 1_000 } as const;
const EXPIRE_MS = 60_000;
/** Maximum bytes of a receiver's error (RFC 8935 2.4). */
const MAX_ERROR = 4_096;

interface Attempt {
  readonly outcome: 'delivered' | 'refused' | 'failed';
  readonly answer: string;
}

/**
 * Pushes security event tokens (RFC 8935). A stream is leased, so that its events are sent one after the other. An event
 * is sent again until the receiver answers, with the same `jti`.
 */
@Injectable()
export class EventPushService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('events');
  private readonly active = new Map<string, Promise<void>>();
  private readonly loop: BackgroundLoop;
  private expiredAt = 0;
  private isClosed = false;

  constructor(
    private readonly streams: EventStreamStore,
    private readonly events: EventStore,
    private readonly clients: ClientStore,
    private readonly tokens: SecurityEventTokens,
    private readonly keys: SigningKeys,
    private readonly seal: HeaderSeal,
    private readonly http: OutsideHttp,
    private readonly audit: AuditPublisher,
    private readonly counter: EventCounter,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.loop = new BackgroundLoop(
      () => this.pass(),
      INTERVALS,
      (reason) => this.logger.error(`security events wait: ${reason}`),
    );
  }

  onApplicationBootstrap(): void {
    if (!this.keys.isEmpty) this.loop.run();
  }

  /** Finishes the attempts that have begun. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    this.loop.stop();
    await Promise.all(this.active.values());
  }

  private async pass(): Promise<void> {
    if (this.clock() - this.expiredAt > EXPIRE_MS) {
      this.counter.count('expired', await this.events.expire());
      this.expiredAt = this.clock();
    }
    const room = MAX_STREAMS - this.active.size;
    if (room === 0) return;
    for (const stream of await this.streams.leaseDue(room, LEASE_S)) {
      const pushed = this.pushAll(stream)
        .catch((error: unknown) => this.logger.error(`security events wait: ${messageOf(error)}`))
        .finally(() => this.active.delete(stream.id));
      this.active.set(stream.id, pushed);
    }
  }

  private async pushAll(stream: EventStream): Promise<void> {
    const client = await this.clients.find(stream.clientId);
    const until = this.clock() + BUSY_MS;
    for (;;) {
      const batch = client ? await this.events.outstanding(stream.id, BATCH) : [];
      if (!client || batch.length === 0) return this.streams.release(stream.id);
      const { wanted, excluded } = await this.tokens.split(client, stream, batch);
      await this.events.finish(stream.id, excluded, 'excluded', null);
      this.counter.count('excluded', excluded.length);
      for (const event of wanted) {
        if (this.isClosed || this.clock() > until) return this.streams.release(stream.id);
        const { outcome, answer } = await this.push(client, stream, event);
        this.counter.count(outcome);
        if (outcome === 'failed') return this.fail(stream, event, answer);
        await this.events.finish(stream.id, [event.jti], outcome, answer);
        if (outcome === 'refused') this.record(stream, event, 'event_refused', { answer });
      }
    }
  }

  /** RFC 8935 2.2: 202 acknowledges the event. 2.4: 400 with `err` refuses it, which a repetition would not change. */
  private async push(client: Client, stream: EventStream, event: StoredEvent): Promise<Attempt> {
    const sealed = stream.authorizationHeader;
    const authorization = sealed && this.seal.open(sealed, stream.clientId);
    if (sealed !== null && authorization === null)
      return {
        outcome: 'failed',
        answer: 'the key of the authorization header was removed: set the header again',
      };
    try {
      const { status, body } = await this.http.fetchOutside(stream.endpointUrl ?? '', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/secevent+jwt',
          Accept: 'application/json',
          ...(authorization !== null && { Authorization: authorization }),
        },
        body: await this.tokens.sign(client, stream, event),
        maxBytes: MAX_ERROR,
      });
      if (status >= 200 && status < 300) return { outcome: 'delivered', answer: `status ${status}` };
      const err = status === 400 ? errorOf(body) : null;
      return err === null
        ? { outcome: 'failed', answer: `status ${status}` }
        : { outcome: 'refused', answer: `status ${status}, ${err}` };
    } catch (error) {
      if (!(error instanceof OutsideFetchError)) throw error;
      return { outcome: 'failed', answer: error.message.slice(0, 255) };
    }
  }

  private async fail(stream: EventStream, event: StoredEvent, answer: string): Promise<void> {
    await this.events.recordAttempt(event.jti, answer);
    const isPaused = await this.streams.releaseFailed(stream.id);
    this.logger.warn({
      client_id: stream.clientId,
      jti: event.jti,
      failure: answer,
      msg: 'event not delivered',
    });
    if (!isPaused) return;
    // Section 8.1.5: the receiver learns of the pause when the stream continues.
    await this.events.record(stream.id, 'stream-updated', {
      status: 'paused',
      reason: PAUSED_BECAUSE_UNREACHABLE,
    });
    this.record(stream, event, 'event_stream_paused', { answer });
  }

  private record(
    { clientId }: EventStream,
    { jti, type, userId }: StoredEvent,
    check: 'event_refused' | 'event_stream_paused',
    detail: object,
  ): void {
    this.audit.record({
      type: 'event.failed',
      client_id: clientId,
      ...(userId !== null && { user_id: userId }),
      check,
      detail: { jti, event: type, ...detail },
    });
  }
}

/** Returns the code of a receiver's error (RFC 8935 2.4); null if the body is not one. */
function errorOf(body: Buffer): string | null {
  try {
    const { err } = JSON.parse(body.toString()) as { readonly err?: unknown };
    return typeof err === 'string' && /^[\w-]{1,64}$/.test(err) ? err : null;
  } catch {
    return null;
  }
}
