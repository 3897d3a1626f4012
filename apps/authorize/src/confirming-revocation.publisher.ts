import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { RevocationPublisher } from '#grants/revocation.service.js';
import { type ClientChanged, type GrantRevoked, SUBJECTS } from '#messaging/contract.js';
import { connectUntil, natsOptions } from '#messaging/nats.connection.js';
import { respond } from '#messaging/nats-message.js';
import { statusSubject } from '#messaging/service-status.js';
import type { StatusReport } from '#platform/status/status-report.js';
import type { OperatorResponder } from './operator.responder.js';

const BATCH_SIZE = 1_000;

/**
 * Sends no NATS requests, so that the NATS user needs few permissions, and a user's revocation depends on no other
 * process. The app works without NATS.
 */
export class ConfirmingRevocationPublisher
  extends RevocationPublisher
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  private readonly logger = new Logger('NATS');
  private nats: NatsConnection | undefined;
  private closed = false;

  /** @param timeoutMs maximum time that a user waits for the confirmation */
  constructor(
    private readonly natsUrl: string,
    private readonly timeoutMs: number,
    private readonly status: StatusReport,
    private readonly requests: OperatorResponder,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    void this.open();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.nats?.close();
  }

  /** Resolves to false if NATS does not confirm in time. A reconnecting NATS client drops unconfirmed broadcasts. */
  async publish(grantIds: readonly string[]): Promise<boolean> {
    const nats = this.nats;
    if (!nats || nats.isClosed()) return false;
    const confirmed = publishConfirmed(nats, grantIds).then(
      () => true,
      () => false,
    );
    return Promise.race([confirmed, sleep(this.timeoutMs, false, { ref: false })]);
  }

  /** Broadcasts a change of a client. Without NATS, other processes read the client when their caches expire. */
  publishChange(clientId: string): void {
    if (!this.nats || this.nats.isClosed()) return;
    this.nats.publish(
      SUBJECTS.clientChanged,
      JSON.stringify({ client_id: clientId } satisfies ClientChanged),
    );
  }

  private async open(): Promise<void> {
    let isLogged = false;
    const nats = await connectUntil(
      () => this.closed,
      natsOptions(this.natsUrl, 'authorize'),
      (reason) => {
        if (!isLogged)
          this.logger.error(`NATS: ${reason}; revocations will not be broadcast until NATS is available`);
        isLogged = true;
      },
    );
    if (!nats) return;
    this.nats = nats;
    respond(nats, statusSubject(this.status.service), () => this.status.read());
    this.requests.subscribe(nats);
    void this.watch(nats);
  }

  /** Logs errors such as a missing publish permission, which `publish` does not report. */
  private async watch(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status())
      if (status.type === 'error') this.logger.error(`NATS: ${status.error.message}`);
  }
}

/** Flushes in batches, so that the app serves other requests in between. Rejects if NATS does not confirm a batch. */
export async function publishConfirmed(
  nats: Pick<NatsConnection, 'publish' | 'flush'>,
  grantIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < grantIds.length; start += BATCH_SIZE) {
    for (const id of grantIds.slice(start, start + BATCH_SIZE))
      nats.publish(SUBJECTS.grantRevoked, JSON.stringify({ grant_id: id } satisfies GrantRevoked));
    await nats.flush();
  }
}
