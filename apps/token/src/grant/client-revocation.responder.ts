import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import {
  type ClientRevocationReply,
  type ClientRevocationRequest,
  SUBJECTS,
} from '#introspection/contract.js';

/** At once: each is a round trip to Redis and a broadcast. */
const BATCH = 500;

/**
 * Answers `oauth.client.revoke`: makes Redis and every cache know what PostgreSQL says is revoked of a client. The
 * request alone revokes nothing, so that nobody can do harm with it, and repeating it is safe.
 */
@Controller()
export class ClientRevocationResponder {
  readonly #logger = new Logger(ClientRevocationResponder.name);

  constructor(
    private readonly records: GrantRecordStore,
    private readonly engine: GrantEngine,
  ) {}

  @MessagePattern(SUBJECTS.revokeClient)
  async revoke(@Payload() request: ClientRevocationRequest): Promise<ClientRevocationReply> {
    const ids = await this.records.revokedOf(request.client_id);
    for (let start = 0; start < ids.length; start += BATCH) {
      await Promise.all(ids.slice(start, start + BATCH).map((id) => this.engine.applyRevocation(id)));
    }
    this.#logger.log({
      client_id: request.client_id,
      grants: ids.length,
      msg: "a client's revocations applied",
    });
    return { applied: ids.length };
  }
}
