import { Injectable } from '@nestjs/common';
import { AuditPublisher } from '#audit/publisher.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { RevocationService } from '#grants/revocation.service.js';
import type { ApplyRevocationsRequest } from '#messaging/contract.js';

@Injectable()
export class RecordedRevocationsService {
  constructor(
    private readonly records: GrantRecordStore,
    private readonly revocations: RevocationService,
    private readonly audit: AuditPublisher,
  ) {}

  /** Applies the recorded revocations of a client or user. @returns number of revocations */
  async apply(subject: ApplyRevocationsRequest): Promise<number> {
    const ids = await this.records.revokedOf(
      'user_id' in subject ? { userId: subject.user_id } : { clientId: subject.client_id },
    );
    await this.revocations.apply(ids);
    if (ids.length > 0)
      this.audit.record({ type: 'grant.revoked', ...subject, detail: { recorded_revocations: ids.length } });
    return ids.length;
  }
}
