import { hash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { AuditPublisher } from '#audit/publisher.js';
import { ClientStore } from '#database/client/client.store.js';
import { LogoutRecipientStore } from '#database/client/logout-recipient.store.js';
import {
  DELIVERY_LIMIT_MS,
  type LogoutDelivery,
  type SessionsEnded,
} from '#messaging/logout/logout-queue.js';
import { LOGOUT_TOKEN_TYPE, logoutTokenClaims } from '#oauth/openid/logout-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
import { OutsideFetchError, OutsideHttp } from '#platform/http/outside-http.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { TokenConfiguration } from '../token.configuration.js';

/** Milliseconds until the next attempt, by the number of attempts. The last one repeats until DELIVERY_LIMIT_MS. */
const BACKOFF_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 20 * 60_000];

/** Milliseconds until the next attempt; null if no attempt follows. */
export type NextAttempt = number | null;

/** Sends logout tokens (Back-Channel Logout 1.0 2.5). */
@Injectable()
export class LogoutDeliveryService {
  private readonly logger = new Logger('logout');
  private readonly tokens: Counter<'outcome'>;

  constructor(
    private readonly recipients: LogoutRecipientStore,
    private readonly clients: ClientStore,
    private readonly keys: SigningKeys,
    private readonly http: OutsideHttp,
    private readonly audit: AuditPublisher,
    private readonly configuration: TokenConfiguration,
    metrics: Metrics,
  ) {
    this.tokens = metrics.counter(
      'oauth_logout_tokens_total',
      'Attempts to send a logout token: delivered, refused by the application, to be repeated, given up, or not needed any longer',
      ['outcome'],
    );
  }

  /** Returns the same deliveries for the same event, so that NATS drops repeated ones. */
  async deliveriesOf({ id, session, user_id: userId, at }: SessionsEnded): Promise<LogoutDelivery[]> {
    const found =
      session === undefined
        ? await this.recipients.ofUser(userId ?? 0)
        : await this.recipients.ofSession(session);
    return found.map((recipient) => ({
      id: hash('sha256', `${id}\n${recipient.clientId}`, 'buffer').subarray(0, 16).toString('base64url'),
      client_id: recipient.clientId,
      user_id: recipient.userId,
      ...(session !== undefined && { session }),
      at,
    }));
  }

  /** @param attempt 1 for the first one */
  async deliver(delivery: LogoutDelivery, attempt: number): Promise<NextAttempt> {
    const client = await this.clients.find(delivery.client_id);
    const uri = client?.disabledAt === null ? client.backchannelLogoutUri : null;
    if (!client || uri === null) return this.end('skipped');
    const { id, session, user_id: userId } = delivery;
    const token = await this.keys.sign(
      logoutTokenClaims(
        client,
        { id, userId, session },
        { issuer: this.configuration.BASE_URL, now: Date.now() },
      ),
      client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM,
      LOGOUT_TOKEN_TYPE,
    );
    const { status, reason } = await this.post(uri, token);
    // 2.8: "If the logout succeeded, the RP MUST respond with HTTP 200 OK"; 204 is tolerated.
    if (status === 200 || status === 204) return this.end('delivered');
    const failure = { ...delivery, failure: reason, attempt };
    // 2.8: "400 Bad Request" if the request was invalid or the logout failed.
    if (status !== null && status >= 400 && status < 500) return this.fail('refused', failure);
    const delay = BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length) - 1] ?? 0;
    if (Date.now() + delay - delivery.at > DELIVERY_LIMIT_MS) return this.fail('dropped', failure);
    this.tokens.inc({ outcome: 'retried' });
    this.logger.warn({
      client_id: client.clientId,
      failure: reason,
      attempt,
      msg: 'logout token not delivered yet',
    });
    return delay;
  }

  /** @returns `status` null without a response */
  private async post(uri: string, token: string): Promise<{ status: number | null; reason: string }> {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ logout_token: token }).toString();
    try {
      const { status } = await this.http.fetchOutside(uri, { method: 'POST', headers, body });
      return { status, reason: `status ${status}` };
    } catch (error) {
      if (!(error instanceof OutsideFetchError)) throw error;
      return { status: null, reason: error.reason };
    }
  }

  private end(outcome: 'delivered' | 'skipped'): null {
    this.tokens.inc({ outcome });
    return null;
  }

  private fail(
    outcome: 'refused' | 'dropped',
    { client_id, user_id, id, failure, attempt }: LogoutDelivery & { failure: string; attempt: number },
  ): null {
    this.tokens.inc({ outcome });
    this.logger.error({ client_id, jti: id, failure, attempt, msg: `logout token ${outcome}` });
    this.audit.record({
      type: 'logout_token.failed',
      client_id,
      user_id,
      detail: { jti: id, outcome, failure, attempts: attempt },
    });
    return null;
  }
}
