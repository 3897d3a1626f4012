import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SUBJECTS } from '#introspection/contract.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';

/** Broadcasts `oauth.grant.revoked`, so that every process evicts the grants' tokens from its cache. */
export abstract class RevocationPublisher {
  /** @returns whether NATS has them; if not, they may be lost */
  abstract publish(grantIds: readonly string[]): Promise<boolean>;
}

/** Broadcasts in one turn of the event loop; other requests are served between two turns. */
const PER_TURN = 1000;

/** Publishes over the process's connection. What is published while NATS reconnects may be lost. */
@Injectable()
export class NatsRevocationPublisher extends RevocationPublisher {
  constructor(private readonly connection: NatsConnection) {
    super();
  }

  async publish(grantIds: readonly string[]): Promise<boolean> {
    let { trusted } = this.connection;
    for (const [n, id] of grantIds.entries()) {
      if (n > 0 && n % PER_TURN === 0) {
        await nextTurn();
        // A connection that comes back meanwhile has lost what was published before.
        trusted &&= this.connection.trusted;
      }
      this.connection.publish(SUBJECTS.grantRevoked, { grant_id: id });
    }
    return trusted;
  }
}
