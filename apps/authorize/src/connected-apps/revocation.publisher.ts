import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type GrantRevoked, SUBJECTS } from '#introspection/contract.js';
import { natsOptions } from '#platform/nats/nats-options.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';

const RETRY_MS = 1_000;

/**
 * Broadcasts that grants are revoked. It asks and hears nothing, so that all this app may do at NATS is to publish one
 * subject. The app starts, logs in and asks for consent without NATS.
 */
@Injectable()
export class RevocationPublisher implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('NATS');
  private nats: NatsConnection | undefined;
  private closed = false;

  constructor(private readonly configuration: AuthorizeConfiguration) {}

  onApplicationBootstrap(): void {
    void this.open();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.nats?.close();
  }

  /**
   * @returns whether NATS has confirmed that it sent them on. If not they may be lost: the client drops what it could
   *   not send when it connects again
   */
  async publish(grantIds: readonly string[]): Promise<boolean> {
    const nats = this.nats;
    if (!nats || nats.isClosed()) return false;
    for (const id of grantIds)
      nats.publish(SUBJECTS.grantRevoked, JSON.stringify({ grant_id: id } satisfies GrantRevoked));
    const confirmed = nats.flush().then(
      () => true,
      () => false,
    );
    // A person's click waits for it, after PostgreSQL and Redis: half as long as for those.
    const confirmMs = this.configuration.dependencyTimeoutMs / 2;
    return Promise.race([confirmed, sleep(confirmMs, false, { ref: false })]);
  }

  /** The client itself would go on trying for the first connection when this app wants to end, so we do. */
  private async open(): Promise<void> {
    const options = { ...natsOptions(this.configuration.NATS_URL, 'authorize'), waitOnFirstConnect: false };
    for (let told = false; !this.closed && !this.nats; told = true) {
      try {
        const nats = await connect(options);
        if (this.closed) await nats.close();
        else void this.watch((this.nats = nats));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!told) this.logger.error(`NATS: ${reason}; revocations will not be broadcast until it is there`);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Such as a subject that this app's user at NATS may not publish, of which a publisher hears in no other way. */
  private async watch(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status())
      if (status.type === 'error') this.logger.error(`NATS: ${status.error.message}`);
  }
}
