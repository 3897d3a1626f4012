import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import {
  type ApplyRevocationsReply,
  type ApplyRevocationsRequest,
  SUBJECTS,
} from '#introspection/contract.js';

/** At once: each is a round trip to Redis and a broadcast. */
const BATCH = 500;

/**
 * Answers `oauth.grant.apply_revocations`: makes Redis and every cache know what PostgreSQL says is revoked of a client or
 * user. The request alone revokes nothing, so that nobody can do harm with it, and repeating it is safe.
 */
@Controller()
export class RevocationResponder {
  readonly #logger = new Logger(RevocationResponder.name);

  constructor(
    private readonly records: GrantRecordStore,
    private readonly engine: GrantEngine,
  ) {}

  @MessagePattern(SUBJECTS.applyRevocations)
  async apply(@Payload() request: ApplyRevocationsRequest): Promise<ApplyRevocationsReply> {
    // Only the field of the contract: a request may have others, and the log repeats none of them.
    const named = 'user_id' in request ? { user_id: request.user_id } : { client_id: request.client_id };
    const ids = await this.records.revokedOf(
      'user_id' in request ? { userId: request.user_id } : { clientId: request.client_id },
    );
    for (let start = 0; start < ids.length; start += BATCH) {
      await Promise.all(ids.slice(start, start + BATCH).map((id) => this.engine.applyRevocation(id)));
    }
    this.#logger.log({ ...named, grants: ids.length, msg: 'recorded revocations applied' });
    return { applied: ids.length };
  }
}
