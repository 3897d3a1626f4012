import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import {
  type ApplyRevocationsReply,
  type ApplyRevocationsRequest,
  SUBJECTS,
} from '#introspection/contract.js';

/** At once: each is a round trip to Redis and a broadcast. */
const BATCH = 500;
/** PostgreSQL's integer. */
const GREATEST_ID = 2 ** 31 - 1;

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
    const whose = this.#whose(request);
    const ids = await this.records.revokedOf(whose);
    for (let start = 0; start < ids.length; start += BATCH) {
      await Promise.all(ids.slice(start, start + BATCH).map((id) => this.engine.applyRevocation(id)));
    }
    const named = 'clientId' in whose ? { client_id: whose.clientId } : { user_id: whose.userId };
    this.#logger.log({ ...named, grants: ids.length, msg: 'recorded revocations applied' });
    return { applied: ids.length };
  }

  /** @throws RpcException, of which no stack trace is logged */
  #whose(request: unknown): { clientId: string } | { userId: number } {
    const { client_id: clientId, user_id: userId } = Object(request) as Record<string, unknown>;
    if (typeof clientId === 'string' && /^[!-~]{1,255}$/.test(clientId) && userId === undefined)
      return { clientId };
    if (Number.isInteger(userId) && Math.abs(Number(userId)) <= GREATEST_ID && clientId === undefined)
      return { userId: Number(userId) };
    this.#logger.warn(`a malformed request on ${SUBJECTS.applyRevocations} was refused`);
    throw new RpcException('the request names either a client_id or a user_id');
  }
}
