import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { type ConsumeProofReply, type ConsumeProofRequest, SUBJECTS } from '#introspection/contract.js';
import { DpopProofService } from './dpop-proof.service.js';

/** Answers `oauth.dpop.consume`: for resource servers that know the token already, but not whether its proof is new. */
@Controller()
export class ConsumeProofResponder {
  constructor(private readonly proofs: DpopProofService) {}

  @MessagePattern(SUBJECTS.consumeProof)
  async consume(@Payload() request: ConsumeProofRequest): Promise<ConsumeProofReply> {
    return this.proofs.consume(request);
  }
}
