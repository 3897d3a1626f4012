import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { type SpendReply, type SpendRequest, SUBJECTS } from '#introspection/contract.js';
import { ProofSpender } from './proof-spender.service.js';

/** Answers `oauth.dpop.spend`: for resource servers that know the token already, but not whether its proof is new. */
@Controller()
export class SpendResponder {
  constructor(private readonly spender: ProofSpender) {}

  @MessagePattern(SUBJECTS.spendProof)
  async spend(@Payload() request: SpendRequest): Promise<SpendReply> {
    return this.spender.spend(request);
  }
}
