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
  readonly isRepeatable: boolean;
}

/** Maximum number of requests that wait for the connection or a responder. Bounds memory. */
const MAX_WAITING = 2_000;
const RESPONDERS_RETRY_MS = 100;

class ConnectionLostError extends Error {}

/**
 * Sends requests. In an outage, holds requests until the outage has lasted for one timeout, and then rejects new
 * requests immediately. The NATS client would drop requests sent during an outage.
 */
export class RequestSender {
  private client: NatsClient | undefined;
  /** Start of the current outage (`performance.now()`). */
  private downSince = -Infinity;
  /** Time of the latest reply or connection. */
  private respondedAt = -Infinity;
  private readonly waiters = new Set<(lost?: Error) => void>();
  private readonly inFlight = new Set<(lost: Error) => void>();
  private waiting = 0;

  /** @param timeoutMs time limit of a request, including retries */
  constructor(private readonly timeoutMs: number) {}

  get isUp(): boolean {
    return this.client !== undefined;
  }

  onConnected(client: NatsClient): void {
    this.client = client;
    this.respondedAt = performance.now();
    for (const proceed of this.waiters) proceed();
  }

  /** Fails the requests in flight, because their replies are lost. */
  onDisconnected(): void {
    if (!this.client) return;
    this.client = undefined;
    this.downSince = performance.now();
    const lost = new ConnectionLostError('the connection was lost');
    for (const fail of this.inFlight) fail(lost);
  }

  close(): void {
    this.onDisconnected();
    this.downSince = -Infinity;
    for (const proceed of this.waiters) proceed(new Error('the connection is closed'));
  }

  /** @throws Error if no reply arrives within the timeout */
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

  private connected(deadline: number): Promise<NatsClient> {
    const remainingMs = Math.min(deadline, this.downSince + this.timeoutMs) - performance.now();
    if (remainingMs <= 0) throw new Error('the connection is down');
    return new Promise((resolve, reject) => {
      const proceed = (lost?: Error) => {
        clearTimeout(timer);
        this.waiters.delete(proceed);
        if (this.client) resolve(this.client);
        else reject(lost ?? new Error('the connection is down'));
      };
      const timer = setTimeout(proceed, remainingMs);
      this.waiters.add(proceed);
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

  /** Returns true if the request had no responder, but a responder may subscribe again within the timeout. */
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

/** Subjects of operators' requests. One authorize process replies in JSON. A failed request gets no reply. */
export const OPERATOR_SUBJECTS = {
  userSessions: 'oauth.user.sessions',
  consentPreview: 'oauth.consent.preview',
} as const;

export interface UserSessionsRequest {
  readonly user_id: number;
}

/** Session with times in ISO 8601. No field identifies the session. */
export interface UserSession {
  readonly started_at: string;
  readonly last_used_at: string;
  /** True if the user logged in at the login provider, not with a password here. */
  readonly at_provider: boolean;
}

export interface UserSessionsReply {
  readonly sessions: readonly UserSession[];
}

export interface ConsentPreviewRequest {
  readonly client_id: string;
  readonly locale: string;
}

/** The page is null for an unknown client, a client of the HTTP API, or an unsupported locale. */
export interface ConsentPreviewReply {
  readonly page: {
    /** Refers to the logo of the application by its path. */
    readonly document: string;
    /** Source of the style, for the Content-Security-Policy. */
    readonly style: string;
  } | null;
}
