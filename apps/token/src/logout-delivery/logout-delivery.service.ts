import { hash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Counter } from 'prom-client';
import { AuditPublisher } from '#audit/publisher.js';
import type { Client } from '#clients/client.js';
import { ClientStore } from '#clients/client.store.js';
import { LogoutRecipientStore } from '#clients/logout-recipient.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { codeTtl } from '#grants/lifetimes.js';
import type { LogoutDelivery, SessionsEnded } from '#messaging/logout/logout-queue.js';
import { LOGOUT_TOKEN_TYPE, logoutTokenClaims } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OutsideFetchError, OutsideHttp } from '#platform/http/outside-http.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { lifetimesOf, TokenConfiguration } from '../token.configuration.js';
import { delayAfter } from './backoff.js';

/**
 * Interval in which a process records only the first delayed delivery to a client, because further delays usually have
 * the same cause.
 */
const RECORD_MS = 60_000;

const OUTCOMES = ['delivered', 'skipped', 'retried', 'refused', 'dropped'] as const;

const CHECKS = {
  retried: 'logout_token_delayed',
  refused: 'logout_token_refused',
  dropped: 'logout_token_dropped',
} as const;

interface Failure extends LogoutDelivery {
  readonly failure: string;
  /** True if the service must not connect to the address. */
  readonly isForbidden?: boolean;
  readonly attempt: number;
}

/** Milliseconds until the next attempt; null if no attempt follows. */
export type NextAttempt = number | null;

/** Sends logout tokens (section 2.5 of OpenID Connect Back-Channel Logout 1.0). */
@Injectable()
export class LogoutDeliveryService {
  private readonly logger = new Logger('logout');
  private readonly tokens: Counter<'outcome'>;
  private readonly delayed = new LRUCache<string, true>({ max: 1_000, ttl: RECORD_MS });

  constructor(
    private readonly recipients: LogoutRecipientStore,
    private readonly engine: GrantEngine,
    private readonly clients: ClientStore,
    private readonly keys: SigningKeys,
    private readonly http: OutsideHttp,
    private readonly audit: AuditPublisher,
    private readonly configuration: TokenConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.tokens = metrics.counter(
      'oauth_logout_tokens_total',
      'Attempts to send a logout token: delivered, refused by the application, to be repeated, given up, or not needed any longer',
      ['outcome'],
    );
    for (const outcome of OUTCOMES) this.tokens.inc({ outcome }, 0);
  }

  /**
   * Voids codes that could begin new sessions at clients, and returns the log-outs to deliver. A repeated event yields
   * deliveries with the same ids, so that NATS can discard duplicates.
   */
  async deliveriesOf({ id, session, user_id: userId, at }: SessionsEnded): Promise<LogoutDelivery[]> {
    const lifetimes = lifetimesOf(this.configuration);
    const since = new Date(at - codeTtl(lifetimes) * 1000);
    // If the event arrives late, the user may already have codes of a new session.
    const ended = session === undefined ? { userId: userId ?? 0, at: new Date(at) } : { session };
    const unredeemed = await this.recipients.recentGrants(ended, since, lifetimes.clockSkew);
    for (const grant of unredeemed) await this.engine.voidCode(grant.id, grant.clientId);
    const recipients =
      session === undefined
        ? await this.recipients.ofUser(userId ?? 0)
        : await this.recipients.ofSession(session);
    return recipients.map((recipient) => ({
      id: hash('sha256', `${id}\n${recipient.clientId}`, 'buffer').subarray(0, 16).toString('base64url'),
      client_id: recipient.clientId,
      user_id: recipient.userId,
      ...(session !== undefined && { session }),
      at,
    }));
  }

  async deliver(delivery: LogoutDelivery, attempt: number): Promise<NextAttempt> {
    const client = await this.clients.find(delivery.client_id);
    const uri = client?.disabledAt === null ? client.backchannelLogoutUri : null;
    if (!client || uri === null) return this.end('skipped');
    const { status, reason, isForbidden = false } = await this.send(client, uri, delivery);
    // Section 2.8: "If the logout succeeded, the RP MUST respond with HTTP 200 OK". 204 is also accepted.
    if (status === 200 || status === 204) return this.end('delivered');
    const failure = { ...delivery, failure: reason, isForbidden, attempt };
    // Section 2.8: "400 Bad Request" if the request was invalid or the logout failed. Any other 4xx also counts.
    if (status !== null && status >= 400 && status < 500) return this.fail('refused', failure);
    const delay = delayAfter(attempt, this.clock() - delivery.at);
    if (delay === null) return this.fail('dropped', failure);
    this.tokens.inc({ outcome: 'retried' });
    this.logger.warn({ ...logged(failure), msg: 'logout token not delivered yet' });
    if (!this.delayed.has(client.clientId)) {
      this.delayed.set(client.clientId, true);
      this.record('retried', failure);
    }
    return delay;
  }

  private async send(
    client: Client,
    uri: string,
    { id, session, user_id: userId }: LogoutDelivery,
  ): Promise<{ status: number | null; reason: string; isForbidden?: boolean }> {
    const alg = client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
    if (!this.keys.has(alg)) return { status: null, reason: `no key of ${alg} signs` };
    const issued = { issuer: this.configuration.BASE_URL, now: this.clock() };
    const claims = logoutTokenClaims(client, { id, userId, session }, issued);
    const token = await this.keys.sign(claims, alg, LOGOUT_TOKEN_TYPE);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ logout_token: token }).toString();
    try {
      const { status } = await this.http.fetchOutside(uri, { method: 'POST', headers, body, maxBytes: 0 });
      return { status, reason: `status ${status}` };
    } catch (error) {
      if (!(error instanceof OutsideFetchError)) throw error;
      return { status: null, reason: error.message, isForbidden: error.reason === 'address_refused' };
    }
  }

  /** Drops a delivery that is overdue because the client is busy. @returns false if the delivery is not overdue */
  dropIfOverdue(delivery: LogoutDelivery, attempt: number): boolean {
    if (delayAfter(attempt, this.clock() - delivery.at) !== null) return false;
    const failure = 'earlier logout tokens still wait for the application';
    this.fail('dropped', { ...delivery, failure, attempt });
    return true;
  }

  private end(outcome: 'delivered' | 'skipped'): null {
    this.tokens.inc({ outcome });
    return null;
  }

  private fail(outcome: 'refused' | 'dropped', failure: Failure): null {
    this.tokens.inc({ outcome });
    this.logger.error({ ...logged(failure), msg: `logout token ${outcome}` });
    this.record(outcome, failure);
    return null;
  }

  private record(outcome: keyof typeof CHECKS, event: Failure): void {
    const { client_id, user_id, id, failure, isForbidden = false, attempt } = event;
    this.audit.record({
      type: 'logout_token.failed',
      client_id,
      user_id,
      check: isForbidden ? 'logout_address_forbidden' : CHECKS[outcome],
      detail: { jti: id, outcome, failure, attempts: attempt },
    });
  }
}

const logged = ({ client_id, id, failure, attempt }: Failure) => ({ client_id, jti: id, failure, attempt });
