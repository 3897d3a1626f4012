import { randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import {
  connect,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection as NatsClient,
  type NodeConnectionOptions,
  RequestError,
} from '@nats-io/transport-node';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { MalformedMessageError, MalformedMessageLog, readObject, REFERENCE_HEADER } from './nats-message.js';
import { RequestSender } from './request-sender.js';
import { respond } from './respond.js';
import { Throttled } from './throttled.js';

const HEARTBEAT_MS = 1_000;
/** How long caches are trusted after the last echo from NATS, which delivers the broadcasts that evict from them. */
const TRUST_MS = 5_000;
const REQUEST_TIMEOUT_MS = 2_000;
const RECONNECT_MS = 250;
const RECONNECT_JITTER_MS = 100;

/** Requests while they run, for metrics and traces: subject and headers, never the payload. */
const REQUESTS = tracingChannel<unknown, { readonly subject: string; readonly headers: MsgHdrs }>(
  'scheduling-oauth:nats-request',
);

/**
 * By subject, the broadcasts that make cached values stale: each function returns the tag of the stale values, and throws
 * MalformedMessageError for a payload that it cannot read.
 */
export type Invalidations = Readonly<Record<string, (payload: unknown) => string>>;

export interface NatsOptions {
  /** `nats://[user:password@]host:port[,nats://…]`. */
  readonly natsUrl: string;
  /** The connection's name in the monitoring of the NATS server. */
  readonly name: string;
  /** Timeout of a request, the wait for the connection included, in milliseconds; 2000 when absent. */
  readonly timeoutMs?: number | undefined;
  /** Broadcasts to subscribe to, for the caches of this process. */
  readonly invalidations: Invalidations;
}

export interface RequestOptions {
  /** Id under which the caller logs its request. */
  readonly reference?: string;
  /** A responder may process the request twice: it is sent again when its reply was lost with the connection. */
  readonly isRepeatable?: boolean;
}

type Listener = (tag: string | null) => void;

/** A connection to NATS: requests, broadcasts, and whether every recent broadcast must have arrived. */
export class NatsConnection {
  private nats: NatsClient | undefined;
  /** When the last ping that was answered was sent, in milliseconds since the epoch. */
  private echoedAt = 0;
  private isClosed = false;
  private heartbeat: NodeJS.Timeout | undefined;
  private readonly listeners = new Set<Listener>();
  private readonly responders = new Map<string, () => Promise<object>>();
  private readonly malformed = new MalformedMessageLog();
  private readonly requests: RequestSender;
  /** Unreadable broadcasts may come from an attacker, who must not be able to keep the caches empty. */
  private readonly invalidateAll = new Throttled(TRUST_MS, () => this.invalidate(null));

  private readonly connectOptions: NodeConnectionOptions;

  /** @throws TypeError if `natsUrl` is not a URL */
  constructor(private readonly options: NatsOptions) {
    this.connectOptions = natsOptions(options.natsUrl, options.name);
    this.requests = new RequestSender(options.timeoutMs ?? REQUEST_TIMEOUT_MS);
  }

  /**
   * Connects; retries until NATS answers, after a refused login too, which an operator may repair while this process runs.
   * Reconnects by itself.
   */
  async open(): Promise<void> {
    const nats = await this.connect();
    if (!nats) return;
    this.nats = nats;
    for (const [subject, tagOf] of Object.entries(this.options.invalidations))
      nats.subscribe(subject, {
        callback: (error, message) => {
          if (!error) this.onBroadcast(subject, message, tagOf);
        },
      });
    for (const [subject, answer] of this.responders) respond(nats, subject, answer);
    void this.watch(nats);
    this.heartbeat = setInterval(() => void this.ping().catch(() => undefined), HEARTBEAT_MS).unref();
    await this.onConnected(nats);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.heartbeat);
    this.invalidateAll.cancel();
    this.requests.close();
    await this.nats?.close();
  }

  /** The client, once NATS has answered; null if this connection was closed before. */
  private async connect(): Promise<NatsClient | null> {
    // The client has no other way to end its first attempts, which would keep the process alive.
    const reconnectDelayHandler = () => {
      if (this.isClosed) throw new DependencyUnavailableError('nats', 'the connection is closed');
      return RECONNECT_MS + Math.random() * RECONNECT_JITTER_MS;
    };
    try {
      const nats = await connect({ ...this.connectOptions, reconnectDelayHandler });
      if (!this.isClosed) return nats;
      await nats.close();
    } catch (error) {
      if (!this.isClosed) throw error;
    }
    return null;
  }

  /** Whether every broadcast sent more than 5 s ago must have arrived. While it is false no cache may be used. */
  get trusted(): boolean {
    const age = Date.now() - this.echoedAt;
    // Negative after the clock was set back.
    return age >= 0 && age <= TRUST_MS;
  }

  /** Calls back with the tag of the values that a broadcast made stale; with null when any may be stale. */
  onStale(listener: Listener): void {
    this.listeners.add(listener);
  }

  /** Answers every request of a subject, as every other process does that responds to it. */
  respond(subject: string, answer: () => Promise<object>): void {
    this.responders.set(subject, answer);
    if (this.nats) respond(this.nats, subject, answer);
  }

  /** Rejects while NATS does not answer. */
  async ping(): Promise<void> {
    const sentAt = Date.now();
    if (!this.nats) throw new DependencyUnavailableError('nats', 'not connected yet');
    await this.nats.rtt();
    this.echoedAt = sentAt;
  }

  /**
   * Sends a request to one of the responders of a subject.
   *
   * @param parse returns the reply as its type, and throws when it does not match the contract
   * @throws DependencyUnavailableError when no valid reply arrives in time
   */
  async request<Reply>(
    subject: string,
    data: object,
    parse: (reply: unknown) => Reply,
    { reference = '', isRepeatable = false }: RequestOptions = {},
  ): Promise<Reply> {
    const header = headers();
    header.set(REFERENCE_HEADER, reference);
    const reply = await REQUESTS.tracePromise(() => this.send(subject, data, header, isRepeatable), {
      subject,
      headers: header,
    });
    try {
      return parse(reply);
    } catch (error) {
      throw new DependencyUnavailableError('nats', error);
    }
  }

  /** Broadcasts to every process. */
  publish(subject: string, event: object): void {
    this.nats?.publish(subject, JSON.stringify(event));
  }

  /** In the packet format of Nest's microservices, which answer these requests. */
  private async send(
    subject: string,
    data: object,
    header: MsgHdrs,
    isRepeatable: boolean,
  ): Promise<unknown> {
    if (this.requests.isUp && !this.trusted)
      throw new DependencyUnavailableError('nats', 'the connection is silent');
    const payload = JSON.stringify({ pattern: subject, data, id: randomUUID() });
    let reply: { response?: unknown; err?: unknown };
    try {
      reply = (await this.requests.send({ subject, payload, headers: header, isRepeatable })).json();
    } catch (error) {
      const isUnanswered = error instanceof RequestError && error.isNoResponders();
      throw new DependencyUnavailableError('nats', isUnanswered ? `nothing responds to ${subject}` : error);
    }
    if (reply.err !== undefined || reply.response === undefined)
      throw new DependencyUnavailableError('nats', `the responder to ${subject} failed`);
    return reply.response;
  }

  /** Makes stale what a broadcast names; for a broadcast that cannot be read, everything. */
  private onBroadcast(subject: string, message: Msg, tagOf: (payload: unknown) => string): void {
    let tag: string;
    try {
      tag = tagOf(readObject(message));
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      this.malformed.warn(subject, message, error);
      this.invalidateAll.run();
      return;
    }
    this.invalidate(tag);
  }

  private async watch(nats: NatsClient): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect') this.requests.down();
      if (type !== 'reconnect') continue;
      // NATS does not repeat broadcasts to a subscriber that was disconnected: anything may be stale.
      this.invalidate(null);
      void this.onConnected(nats);
    }
  }

  /** Requests are sent once an echo has proved that the subscriptions are back. */
  private async onConnected(nats: NatsClient): Promise<void> {
    const isAnswered = await this.ping().then(
      () => true,
      () => false,
    );
    // Otherwise the connection was lost again, and another one will follow.
    if (isAnswered) this.requests.up(nats);
  }

  private invalidate(tag: string | null): void {
    for (const listener of this.listeners) listener(tag);
  }
}

/**
 * Connection options for `nats://[user:password@]host:port[,nats://…]` (a lone user name is a token): keep trying for ever,
 * from the first connection on, and notice a dead peer within seconds.
 */
export function natsOptions(url: string, name: string): NodeConnectionOptions {
  const servers = url.split(',').map((server) => new URL(server.trim()));
  const [first] = servers;
  const [user, pass] = [decodeURIComponent(first?.username ?? ''), decodeURIComponent(first?.password ?? '')];
  return {
    name,
    servers: servers.map(({ host }) => host),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    // The server's permissions let a user subscribe to its own inbox only (k8s/overlays/local/nats/nats.conf).
    ...(pass !== '' && /^[\w-]+$/.test(user) && { inboxPrefix: `_INBOX.${user}` }),
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    // Two refused logins would end the client for good; passwords are replaced on both sides, one after the other.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    timeout: 2_000,
    pingInterval: 2_000,
    maxPingOut: 2,
  };
}
