import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { RevocationPublisher } from '#grants/revocation.publisher.js';
import { type GrantRevoked, SUBJECTS } from '#introspection/contract.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import { respond } from '#platform/nats/respond.js';
import { statusSubject } from '#platform/status/service-status.js';
import type { StatusReport } from '#platform/status/status-report.js';

const RETRY_MS = 1_000;
/** Broadcasts that NATS confirms together. */
const PART = 1_000;

/**
 * Broadcasts revocations and waits until NATS confirms them, and answers requests for this process's status. It requests
 * nothing, so that this app's NATS user needs few rights (docs/adr/0008). The app starts and works without NATS.
 */
export class ConfirmingRevocationPublisher
  extends RevocationPublisher
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  private readonly logger = new Logger('NATS');
  private nats: NatsConnection | undefined;
  private closed = false;

  /** @param timeoutMs for which a user's click waits for the confirmation, after PostgreSQL and Redis, in milliseconds */
  constructor(
    private readonly natsUrl: string,
    private readonly timeoutMs: number,
    private readonly status: StatusReport,
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

  /** What NATS has not confirmed may be lost: the client drops it when it reconnects. */
  async publish(grantIds: readonly string[]): Promise<boolean> {
    const nats = this.nats;
    if (!nats || nats.isClosed()) return false;
    const confirmed = publishConfirmed(nats, grantIds).then(
      () => true,
      () => false,
    );
    return Promise.race([confirmed, sleep(this.timeoutMs, false, { ref: false })]);
  }

  /** Retries the first connection itself, because the client would go on trying after this app has shut down. */
  private async open(): Promise<void> {
    const options = { ...natsOptions(this.natsUrl, 'authorize'), waitOnFirstConnect: false };
    for (let logged = false; !this.closed && !this.nats; logged = true) {
      try {
        const nats = await connect(options);
        if (this.closed) await nats.close();
        else this.use(nats);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!logged)
          this.logger.error(`NATS: ${reason}; revocations will not be broadcast until it is there`);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  private use(nats: NatsConnection): void {
    this.nats = nats;
    respond(nats, statusSubject(this.status.service), () => this.status.read());
    void this.watch(nats);
  }

  /** Logs errors, such as a subject that this app's NATS user may not publish: publishing itself reports none. */
  private async watch(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status())
      if (status.type === 'error') this.logger.error(`NATS: ${status.error.message}`);
  }
}

/** Rejects when NATS does not confirm a part. Other requests are served while it confirms one. */
export async function publishConfirmed(
  nats: Pick<NatsConnection, 'publish' | 'flush'>,
  grantIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < grantIds.length; start += PART) {
    for (const id of grantIds.slice(start, start + PART))
      nats.publish(SUBJECTS.grantRevoked, JSON.stringify({ grant_id: id } satisfies GrantRevoked));
    await nats.flush();
  }
}
