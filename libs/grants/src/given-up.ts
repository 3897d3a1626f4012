import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SUBJECTS, type RequestGivenUp, tagOf } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { messageOf } from '#platform/errors.js';
import { withTimeout } from '#platform/clock.js';

/** Longer than a code is valid, so that a client can repeat its request for as long. */
const REMEMBERED_MS = 10 * 60_000;
const MAX_REMEMBERED = 50_000;
const ANNOUNCEMENT_TIMEOUT_MS = 1_000;

/**
 * Thrown if a code or single-use token may have been used although its client gets an error, and the other processes
 * may not have heard of it. A repeated request may then count as a replay.
 */
export class UnconfirmedRequestError extends Error {
  constructor(cause: unknown) {
    super(`the other processes do not know that a request failed: ${messageOf(cause)}`, { cause });
    this.name = 'UnconfirmedRequestError';
  }
}

/**
 * Token requests whose client got an error although Redis may have executed them. Their tokens do not exist, because
 * only the process that gave up could have issued them, so the client may repeat the request
 * (docs/adr/0043-deadlines-of-scripts.md).
 */
export class GivenUpRequests {
  private readonly requests = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS });

  has(request: string): boolean {
    return this.requests.has(request);
  }

  /** Must be called before the client gets the error. @returns false if other processes may not have heard of it */
  announce(request: string): Promise<boolean> {
    this.remember(request);
    return Promise.resolve(true);
  }

  protected remember(request: string): void {
    this.requests.set(request, true);
  }
}

/** Shares given-up requests with the other processes. */
@Injectable()
export class NatsGivenUpRequests extends GivenUpRequests {
  /** Functions to call when this process receives its own broadcast. */
  private readonly unconfirmed = new Map<string, () => void>();

  constructor(private readonly nats: NatsConnection) {
    super();
    const prefix = tagOf.request('');
    nats.broadcasts.onStale((tag) => {
      if (!tag?.startsWith(prefix)) return;
      const request = tag.slice(prefix.length);
      this.remember(request);
      this.unconfirmed.get(request)?.();
    });
  }

  override async announce(request: string): Promise<boolean> {
    this.remember(request);
    // A ping would succeed even if the permissions of NATS forbid the broadcast.
    const received = new Promise<void>((resolve) => this.unconfirmed.set(request, resolve));
    this.nats.publish(SUBJECTS.requestGivenUp, { request_id: request } satisfies RequestGivenUp);
    return withTimeout(received, ANNOUNCEMENT_TIMEOUT_MS)
      .then(
        () => true,
        () => false,
      )
      .finally(() => this.unconfirmed.delete(request));
  }
}
