import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { AuditPublisher } from '#audit/publisher.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { RevocationService } from '#grants/revocation.service.js';
import { type ApplyRevocationsReply, type ApplyRevocationsRequest, SUBJECTS } from '#messaging/contract.js';

/** Applies the recorded revocations of a client or user. Revokes nothing by itself: a forged request does no harm. */
@Controller()
export class RevocationResponder {
  private readonly logger = new Logger(RevocationResponder.name);

  constructor(
    private readonly records: GrantRecordStore,
    private readonly revocations: RevocationService,
    private readonly audit: AuditPublisher,
  ) {}

  @MessagePattern(SUBJECTS.applyRevocations)
  async apply(@Payload() request: ApplyRevocationsRequest): Promise<ApplyRevocationsReply> {
    // Copies only known fields, so that others do not reach the log.
    const subject = 'user_id' in request ? { user_id: request.user_id } : { client_id: request.client_id };
    const ids = await this.records.revokedOf(
      'user_id' in request ? { userId: request.user_id } : { clientId: request.client_id },
    );
    await this.revocations.apply(ids);
    if (ids.length > 0)
      this.audit.record({ type: 'grant.revoked', ...subject, detail: { recorded_revocations: ids.length } });
    this.logger.log({ ...subject, grants: ids.length, msg: 'recorded revocations applied' });
    return { applied: ids.length };
  }
}
