import { randomUUID } from 'node:crypto';
import {
  connect,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  RequestError,
} from '@nats-io/transport-node';
import {
  type Broadcasts,
  type ClientChanged,
  type GrantRevoked,
  REFERENCE_HEADER,
  SUBJECTS,
  type UserChanged,
} from '#introspection/contract.js';
import { natsOptions } from './nats-options.js';
import { MalformedMessageError, MalformedMessageLog, readBroadcast } from '#introspection/read-message.js';
import { NATS_REQUESTS } from './requests.js';
import { IntrospectionUnavailableError } from './unavailable.error.js';

const HEARTBEAT_MS = 1_000;
/** For how long what is cached may be believed without word from NATS, through which revocations arrive. */
export const TRUST_MS = 5_000;
/** In which time the token app must answer, where nobody says another. */
export const REQUEST_TIMEOUT_MS = 2_000;

/** What an event makes stale; caches tag their entries with these. */
export const tagOf = {
  grant: (id: string) => `grant:${id}`,
  client: (id: string) => `client:${id}`,
  user: (id: number | string) => `user:${id}`,
};

type Listener = (tag: string | null) => void;

/** One connection to NATS: asks the token app, hears its broadcasts, and knows how fresh its hearing is. */
export class TokenServiceConnection {
  private nats: NatsConnection | undefined;
  private heard = 0;
  private closed = false;
  private heartbeat: NodeJS.Timeout | undefined;
  private readonly listeners = new Set<Listener>();
  private readonly malformed = new MalformedMessageLog();

  constructor(
    private readonly url: string,
    private readonly name: string,
    /** In which time a request must be answered, in milliseconds. */
    private readonly timeoutMs = REQUEST_TIMEOUT_MS,
  ) {}

  /** Connects; keeps trying until NATS is there, and again whenever it went away. @throws what no retry mends. */
  async open(): Promise<void> {
    const nats = await connect(natsOptions(this.url, this.name));
    if (this.closed) return nats.close();
    this.nats = nats;
    this.listen(nats, SUBJECTS.grantRevoked, (event) => tagOf.grant(event.grant_id));
    this.listen(nats, SUBJECTS.clientChanged, (event) => tagOf.client(event.client_id));
    this.listen(nats, SUBJECTS.userChanged, (event) => tagOf.user(event.user_id));
    void this.watch(nats);
    this.heartbeat = setInterval(() => void this.ping().catch(() => undefined), HEARTBEAT_MS).unref();
    await this.ping().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.heartbeat);
    await this.nats?.close();
  }

  /** Whether every broadcast of a moment ago must have arrived. False means: believe no cache. */
  get trusted(): boolean {
    const age = Date.now() - this.heard;
    // A clock that was set back says nothing.
    return age >= 0 && age <= TRUST_MS;
  }

  /** Calls back with the tag of what a broadcast made stale, or with null when broadcasts may have been missed. */
  onStale(listener: Listener): void {
    this.listeners.add(listener);
  }

  /** Rejects while NATS does not answer. */
  async ping(): Promise<void> {
    const sent = Date.now();
    if (!this.nats) throw new IntrospectionUnavailableError('not connected yet');
    await this.nats.rtt();
    this.heard = sent;
  }

  /** Asks one instance of the token app. @throws IntrospectionUnavailableError when it does not answer in time. */
  async request<T>(subject: string, data: object, reference = ''): Promise<T> {
    const header = headers();
    header.set(REFERENCE_HEADER, reference);
    return NATS_REQUESTS.tracePromise(() => this.ask<T>(subject, data, header), {
      subject,
      headers: header,
    });
  }

  /** Broadcasts to every process. */
  publish(subject: string, event: GrantRevoked | ClientChanged | UserChanged): void {
    this.nats?.publish(subject, JSON.stringify(event));
  }

  private async ask<T>(subject: string, data: object, header: MsgHdrs): Promise<T> {
    if (!this.nats || !this.trusted) throw new IntrospectionUnavailableError('NATS is cut off');
    const packet = JSON.stringify({ pattern: subject, data, id: randomUUID() });
    let reply: { response?: T; err?: unknown };
    try {
      const message = await this.nats.request(subject, packet, {
        timeout: this.timeoutMs,
        headers: header,
      });
      reply = message.json();
    } catch (error) {
      const nobody = error instanceof RequestError && error.isNoResponders();
      throw new IntrospectionUnavailableError(
        nobody ? 'no instance of it is connected' : String(error),
        error,
      );
    }
    if (reply.err !== undefined || reply.response === undefined)
      throw new IntrospectionUnavailableError('it failed on the request');
    return reply.response;
  }

  private listen<Subject extends keyof Broadcasts>(
    nats: NatsConnection,
    subject: Subject,
    tag: (event: Broadcasts[Subject]) => string,
  ): void {
    const callback = (failed: Error | null, message: Msg) => {
      if (failed) return;
      let stale: string | null = null;
      try {
        stale = tag(readBroadcast(subject, message));
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error;
        this.malformed.warn(subject, message, error);
      }
      // Something was revoked or changed. If the message does not say what, evict everything (null).
      this.stale(stale);
    };
    nats.subscribe(subject, { callback });
  }

  private async watch(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      // Broadcasts are not kept for who was away or too slow: forget everything.
      if (type === 'reconnect' || type === 'slowConsumer') this.stale(null);
    }
  }

  private stale(tag: string | null): void {
    for (const listener of this.listeners) listener(tag);
  }
}
