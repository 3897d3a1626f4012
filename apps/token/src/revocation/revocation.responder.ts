import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { type ApplyRevocationsReply, type ApplyRevocationsRequest, SUBJECTS } from '#messaging/contract.js';
import { RecordedRevocationsService } from './recorded-revocations.service.js';

/** Applies only revocations recorded in PostgreSQL, so a forged request is harmless. */
@Controller()
export class RevocationResponder {
  private readonly logger = new Logger(RevocationResponder.name);

  constructor(private readonly revocations: RecordedRevocationsService) {}

  @MessagePattern(SUBJECTS.applyRevocations)
  async apply(@Payload() request: ApplyRevocationsRequest): Promise<ApplyRevocationsReply> {
    // Copies only known fields, because the subject goes to the log and the audit trail.
    const subject = 'user_id' in request ? { user_id: request.user_id } : { client_id: request.client_id };
    const applied = await this.revocations.apply(subject);
    this.logger.log({ ...subject, grants: applied, msg: 'recorded revocations applied' });
    return { applied };
  }
}
