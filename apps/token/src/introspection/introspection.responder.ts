import { Controller, Logger } from '@nestjs/common';
import { Ctx, MessagePattern, type NatsContext, Payload } from '@nestjs/microservices';
import { GrantEngine } from '#grants/grant-engine.js';
import {
  type IntrospectionReply,
  type IntrospectionRequest,
  type ConsumeProofReply,
  SUBJECTS,
} from '#introspection/contract.js';
import { REFERENCE_HEADER } from '#platform/nats/nats-message.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { UsageRecorder } from '../usage/usage-recorder.service.js';

/** Answers `oauth.token.introspect`: whether an access token is active, and for what. A forged token costs no Redis call. */
@Controller()
export class IntrospectionResponder {
  private readonly logger = new Logger(IntrospectionResponder.name);

  constructor(
    private readonly engine: GrantEngine,
    private readonly usage: UsageRecorder,
    private readonly proofs: DpopProofService,
  ) {}

  @MessagePattern(SUBJECTS.introspect)
  async introspect(
    @Payload() request: IntrospectionRequest,
    @Ctx() context: NatsContext,
  ): Promise<IntrospectionReply> {
    const result = await this.engine.introspect(request.token, request.jkt ?? null);
    if (result.outcome === 'active' && result.token.kind === 'access') {
      const { grant, grantId, token } = result;
      this.usage.note(grantId);
      return {
        active: true,
        grant_id: grantId,
        client_id: grant.clientId,
        sub: String(grant.userId),
        scope: result.scope,
        exp: token.expiry,
        ...(token.jkt !== null && { cnf: { jkt: token.jkt }, ...(await this.consumeProof(request)) }),
      };
    }
    const headers = context.getHeaders() as { get(name: string): string } | undefined;
    this.logger.log({
      reference: headers?.get(REFERENCE_HEADER),
      check: result.outcome === 'active' ? 'wrong_kind' : result.outcome,
      grant_id: result.grantId,
      msg: 'access token refused',
    });
    return { active: false };
  }

  /** Only for a token that is bound to the proof's key, so that nobody can fill Redis with proofs of other keys. */
  private async consumeProof({ jkt, proof }: IntrospectionRequest): Promise<{ proof?: ConsumeProofReply }> {
    return proof && proof.jkt === jkt ? { proof: await this.proofs.consume(proof) } : {};
  }
}
