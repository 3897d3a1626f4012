import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SUBJECTS } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';

/** Broadcasts `oauth.grant.revoked`, so that every process evicts the grants' tokens from its cache. */
export abstract class RevocationPublisher {
  /** @returns false if broadcasts may be lost */
  abstract publish(grantIds: readonly string[]): Promise<boolean>;
}

/** Limit of broadcasts per turn of the event loop, so that other requests are served in between. */
const PER_TURN = 1000;

/** Publishes over NATS. Broadcasts may be lost while NATS reconnects. */
@Injectable()
export class NatsRevocationPublisher extends RevocationPublisher {
  constructor(private readonly connection: NatsConnection) {
    super();
  }

  async publish(grantIds: readonly string[]): Promise<boolean> {
    let { trusted } = this.connection.broadcasts;
    for (const [n, id] of grantIds.entries()) {
      if (n > 0 && n % PER_TURN === 0) {
        await nextTurn();
        // A reconnect between two turns may lose earlier broadcasts.
        trusted &&= this.connection.broadcasts.trusted;
      }
      this.connection.publish(SUBJECTS.grantRevoked, { grant_id: id });
    }
    return trusted;
  }
}
