import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Msg,
  type MsgHdrs,
  type NatsConnection as NatsClient,
  RequestError,
} from '@nats-io/transport-node';

export interface OutgoingRequest {
  readonly subject: string;
  readonly payload: string;
  readonly headers: MsgHdrs;
  /** A responder may get the request twice, because the first reply was lost. */
  readonly isRepeatable: boolean;
}

/** Bounds the memory of the requests that wait for the connection or for a responder. */
const MAX_WAITING = 2_000;
const RESPONDERS_RETRY_MS = 100;

class ConnectionLostError extends Error {}

/**
 * Sends requests over a connection that may break. While it is down, requests wait for it: as long as the outage has not
 * lasted longer than a request's timeout. Later ones are refused immediately. The client itself discards what it is given
 * while it is disconnected, and the request then waits for its whole timeout.
 */
export class RequestSender {
  private client: NatsClient | undefined;
  /** Start of the outage (`performance.now()`), while there is no client. */
  private downSince = -Infinity;
  /** When the latest reply arrived, or the connection was made. */
  private respondedAt = -Infinity;
  private readonly held = new Set<(lost?: Error) => void>();
  private readonly inFlight = new Set<(lost: Error) => void>();
  private waiting = 0;

  /** @param timeoutMs how long a request may take in all, however often it is sent */
  constructor(private readonly timeoutMs: number) {}

  get isUp(): boolean {
    return this.client !== undefined;
  }

  up(client: NatsClient): void {
    this.client = client;
    this.respondedAt = performance.now();
    for (const proceed of this.held) proceed();
  }

  /** The replies to what is in flight are lost. */
  down(): void {
    if (!this.client) return;
    this.client = undefined;
    this.downSince = performance.now();
    const lost = new ConnectionLostError('the connection was lost');
    for (const fail of this.inFlight) fail(lost);
  }

  /** Refuses what waits, and every later request. */
  close(): void {
    this.down();
    this.downSince = -Infinity;
    for (const proceed of this.held) proceed(new Error('the connection is closed'));
  }

  /** @throws Error when no reply arrives within the timeout */
  async send(request: OutgoingRequest): Promise<Msg> {
    const deadline = performance.now() + this.timeoutMs;
    for (;;) {
      const client = this.client ?? (await this.wait(() => this.connected(deadline)));
      try {
        const reply = await this.exchange(client, request, deadline);
        this.respondedAt = performance.now();
        return reply;
      } catch (error) {
        if (this.lacksResponders(error, deadline)) await this.wait(() => sleep(RESPONDERS_RETRY_MS));
        else if (!(error instanceof ConnectionLostError && request.isRepeatable)) throw error;
      }
    }
  }

  /** Resolves when the connection is back. */
  private connected(deadline: number): Promise<NatsClient> {
    const patience = Math.min(deadline, this.downSince + this.timeoutMs) - performance.now();
    if (patience <= 0) throw new Error('the connection is down');
    return new Promise((resolve, reject) => {
      const proceed = (lost?: Error) => {
        clearTimeout(timer);
        this.held.delete(proceed);
        if (this.client) resolve(this.client);
        else reject(lost ?? new Error('the connection is down'));
      };
      const timer = setTimeout(proceed, patience);
      this.held.add(proceed);
    });
  }

  private async exchange(
    client: NatsClient,
    { subject, payload, headers }: OutgoingRequest,
    deadline: number,
  ): Promise<Msg> {
    const timeout = Math.max(1, deadline - performance.now());
    let fail: (lost: Error) => void = () => undefined;
    try {
      return await new Promise((resolve, reject) => {
        fail = reject;
        this.inFlight.add(fail);
        client.request(subject, payload, { timeout, headers }).then(resolve, reject);
      });
    } finally {
      this.inFlight.delete(fail);
    }
  }

  /** Whether the request reached nobody, and a responder may be back in time. */
  private lacksResponders(error: unknown, deadline: number): boolean {
    const now = performance.now();
    return (
      error instanceof RequestError &&
      error.isNoResponders() &&
      now < this.respondedAt + this.timeoutMs &&
      now + RESPONDERS_RETRY_MS < deadline
    );
  }

  private async wait<T>(until: () => Promise<T>): Promise<T> {
    if (this.waiting >= MAX_WAITING) throw new Error('too many requests wait for the connection');
    this.waiting += 1;
    try {
      return await until();
    } finally {
      this.waiting -= 1;
    }
  }
}
