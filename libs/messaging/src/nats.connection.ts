import { randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  connect,
  headers,
  type MsgHdrs,
  type NatsConnection as NatsClient,
  type NodeConnectionOptions,
  PermissionViolationError,
  RequestError,
} from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { JetStreamApiCodes, JetStreamApiError, type StreamConfig } from '@nats-io/jetstream';
import type { Clock } from '#platform/clock.js';
import { DependencyUnavailableError, messageOf } from '#platform/errors.js';
import { Broadcasts, type TagOfBroadcast } from './invalidated-cache.js';
import { REFERENCE_HEADER, respond } from './nats-message.js';
import { RequestSender } from './request-sender.js';
import { Throttled } from './throttled.js';
import { type NatsWork, useConnection } from './use-connection.js';

const HEARTBEAT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 2_000;
const RECONNECT_MS = 250;
const RECONNECT_JITTER_MS = 100;
const RETRY_MS = 250;
const LOG_INTERVAL_MS = 60_000;
const CONNECTED = 'connected';

/** Channel for metrics and traces, which get the subject and headers of each request, but not the payload. */
const REQUESTS = tracingChannel<unknown, { readonly subject: string; readonly headers: MsgHdrs }>(
  'scheduling-oauth:nats-request',
);

/** Functions by the broadcast's subject. */
export type Invalidations = Readonly<Record<string, TagOfBroadcast>>;

export interface NatsOptions {
  /** `nats://[user:password@]host:port[,nats://…]`. */
  readonly natsUrl: string;
  /** Connection name in NATS monitoring. */
  readonly name: string;
  /** Timeout of a request in milliseconds, including the wait for the connection; 2000 by default. */
  readonly timeoutMs?: number | undefined;
  readonly invalidations: Invalidations;
}

export interface RequestOptions {
  /** Request id in the caller's log. */
  readonly reference?: string;
  /** True to resend the request if the connection is lost. The responder may then process the request twice. */
  readonly isRepeatable?: boolean;
}

export class NatsConnection {
  readonly broadcasts: Broadcasts;
  private nats: NatsClient | undefined;
  private connecting: Promise<NatsClient | null> = Promise.resolve(null);
  private isClosed = false;
  private heartbeat: NodeJS.Timeout | undefined;
  private readonly responders = new Map<string, () => Promise<object>>();
  private readonly requests: RequestSender;
  private readonly connectOptions: NodeConnectionOptions;
  private readonly logger = new Logger('NATS');
  /** Reason of the last failure, or of the state without one. */
  private failure = 'not connected yet';
  private readonly failures = new Throttled(LOG_INTERVAL_MS, () =>
    this.logger.warn({ cause: this.failure, msg: 'NATS is unavailable' }),
  );

  /** @throws TypeError if `natsUrl` is not a URL */
  constructor(
    private readonly options: NatsOptions,
    private readonly clock: Clock = Date.now,
  ) {
    this.broadcasts = new Broadcasts(clock);
    this.connectOptions = natsOptions(options.natsUrl, options.name);
    this.requests = new RequestSender(options.timeoutMs ?? REQUEST_TIMEOUT_MS);
  }

  /** Connects and reconnects. Retries forever, even after a rejected login, because an operator may fix the login. */
  async open(): Promise<void> {
    this.connecting = connectUntil(() => this.isClosed, this.connectOptions, this.onFailure);
    const nats = await this.connecting;
    if (!nats) return;
    this.nats = nats;
    for (const [subject, tagOf] of Object.entries(this.options.invalidations))
      nats.subscribe(subject, {
        callback: (error, message) => {
          if (!error) this.broadcasts.receive(subject, message, tagOf);
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
    this.broadcasts.close();
    this.failures.cancel();
    this.requests.close();
    await this.nats?.close();
  }

  /** Replies to requests on a subject. Every process replies, because the subscription has no queue group. */
  respond(subject: string, answer: () => Promise<object>): void {
    this.responders.set(subject, answer);
    if (this.nats) respond(this.nats, subject, answer);
  }

  /** Rejects while NATS is unavailable. */
  async ping(): Promise<void> {
    const sentAt = this.clock();
    if (!this.nats) throw new DependencyUnavailableError('nats', this.failure);
    await this.nats.rtt().catch((error: unknown) => {
      throw new DependencyUnavailableError('nats', this.failure === CONNECTED ? error : this.failure);
    });
    this.broadcasts.onEcho(sentAt);
  }

  /**
   * @param parse throws if the reply violates the contract
   * @throws DependencyUnavailableError if no valid reply arrives in time
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

  publish(subject: string, event: object): void {
    this.nats?.publish(subject, JSON.stringify(event));
  }

  /** Lends the connection, for work that `request` and `publish` cannot do. Like `useConnection`. */
  use<T>(work: NatsWork<T>, limitMs?: number): Promise<T> {
    return useConnection(this.connecting, work, limitMs);
  }

  /** Sends a request in the packet format of Nest's microservices. */
  private async send(
    subject: string,
    data: object,
    header: MsgHdrs,
    isRepeatable: boolean,
  ): Promise<unknown> {
    if (this.requests.isUp && !this.broadcasts.trusted)
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

  private async watch(nats: NatsClient): Promise<void> {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') this.requests.onDisconnected();
      // A denied subject is an error too, but the connection stays.
      if (status.type === 'error' && !(status.error instanceof PermissionViolationError))
        this.onFailure(status.error.message);
      if (status.type !== 'reconnect') continue;
      // NATS does not redeliver broadcasts missed during the disconnection.
      this.broadcasts.invalidate(null);
      void this.onConnected(nats);
    }
  }

  /** Enables requests after a pong, which proves that the subscriptions are restored. */
  private async onConnected(nats: NatsClient): Promise<void> {
    this.failures.cancel();
    this.failure = CONNECTED;
    const isAnswered = await this.ping().then(
      () => true,
      () => false,
    );
    // Without a pong, the connection was lost again, and the client will reconnect.
    if (isAnswered) this.requests.onConnected(nats);
  }

  /** @param reason such as `Authorization Violation` for a wrong password */
  private readonly onFailure = (reason: string): void => {
    this.failure = reason;
    this.failures.run();
  };
}

/** Returns options that retry forever and detect a dead server within seconds. A user without a password is a token. */
export function natsOptions(url: string, name: string): NodeConnectionOptions {
  const servers = url.split(',').map((server) => new URL(server.trim()));
  const [first] = servers;
  const [user, pass] = [decodeURIComponent(first?.username ?? ''), decodeURIComponent(first?.password ?? '')];
  return {
    name,
    servers: servers.map(({ host }) => host),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    // The server's permissions restrict each user to its own inbox (k8s/overlays/local/nats/nats.conf).
    ...(pass !== '' && /^[\w-]+$/.test(user) && { inboxPrefix: `_INBOX.${user}` }),
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    // A new password reaches client and server at different times. By default, two rejected logins close the client.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    timeout: 2_000,
    pingInterval: 2_000,
    maxPingOut: 2,
  };
}

/**
 * Connects a process that works without NATS. Does not use the client's own retries of the first connection, which
 * would outlive a shutdown.
 * @returns null if the process was shut down first
 */
export async function connectUntil(
  isShutDown: () => boolean,
  options: NodeConnectionOptions,
  onFailure: (reason: string) => void = () => undefined,
): Promise<NatsClient | null> {
  while (!isShutDown()) {
    try {
      const nats = await connect({ ...options, waitOnFirstConnect: false });
      if (!isShutDown()) return nats;
      await nats.close();
    } catch (error) {
      onFailure(messageOf(error));
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
  return null;
}

/** Returns null if the error means that the stream does not exist; rethrows any other error. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
  throw error;
}

/** Returns the names of the settings that differ from `wanted`. */
export function differingFields(config: StreamConfig, wanted: Partial<StreamConfig>): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => JSON.stringify(config[name as keyof StreamConfig]) !== JSON.stringify(value))
    .map(([name]) => name);
}
