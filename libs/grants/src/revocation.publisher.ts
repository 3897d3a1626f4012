import { Injectable } from '@nestjs/common';
import { SUBJECTS } from '#introspection/contract.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';

/** Broadcasts `oauth.grant.revoked`, so that every process evicts the grants' tokens from its cache. */
export abstract class RevocationPublisher {
  /** @returns whether NATS has them; if not, they may be lost */
  abstract publish(grantIds: readonly string[]): Promise<boolean>;
}

/** Publishes over the process's connection. What is published while NATS reconnects may be lost. */
@Injectable()
export class NatsRevocationPublisher extends RevocationPublisher {
  constructor(private readonly connection: NatsConnection) {
    super();
  }

  async publish(grantIds: readonly string[]): Promise<boolean> {
    for (const id of grantIds) this.connection.publish(SUBJECTS.grantRevoked, { grant_id: id });
    return this.connection.trusted;
  }
}
