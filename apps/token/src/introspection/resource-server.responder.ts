import { Controller, Logger } from '@nestjs/common';
import { Ctx, MessagePattern, type NatsContext, Payload } from '@nestjs/microservices';
import { AuditPublisher } from '#audit/publisher.js';
import { UserStore } from '#users/user.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import {
  type ClaimsReply,
  type ClaimsRequest,
  type ConsumeProofReply,
  type ConsumeProofRequest,
  type IntrospectionReply,
  type IntrospectionRequest,
  type ProfileReply,
  type ProfileRequest,
  SUBJECTS,
} from '#messaging/contract.js';
import { REFERENCE_HEADER } from '#messaging/nats-message.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { activeClaims } from './active-claims.js';
import { DisabledClientsService } from './disabled-clients.service.js';

@Controller()
export class ResourceServerResponder {
  private readonly logger = new Logger(ResourceServerResponder.name);

  constructor(
    private readonly engine: GrantEngine,
    private readonly clients: DisabledClientsService,
    private readonly usage: UsageRecorder,
    private readonly proofs: DpopProofService,
    private readonly users: UserStore,
    private readonly authenticator: ClientAuthenticator,
    private readonly audit: AuditPublisher,
  ) {}

  /** Rejects a forged token without a Redis command. */
  @MessagePattern(SUBJECTS.introspect)
  async introspect(
    @Payload() request: IntrospectionRequest,
    @Ctx() context: NatsContext,
  ): Promise<IntrospectionReply> {
    const result = await this.clients.check(await this.engine.introspect(request.token, request.jkt ?? null));
    if (result.outcome === 'active' && result.token.kind === 'access') {
      if (result.grant.userId !== null) this.usage.recordGrant(result.grantId);
      return {
        ...activeClaims(result),
        ...(result.token.jkt !== null && (await this.consumed(request))),
      };
    }
    const headers = context.getHeaders() as { get(name: string): string } | undefined;
    const refused = {
      // The API records an event with this reference, which states only that the token is not active.
      reference: headers?.get(REFERENCE_HEADER) ?? '',
      check: result.outcome === 'active' ? 'wrong_kind' : result.outcome,
      ...(result.grantId !== undefined && { grant_id: result.grantId }),
    };
    const detail = result.outcome === 'expired' ? { expired_at: result.expiredAt } : {};
    this.logger.log({ ...refused, ...detail, msg: 'access token refused' });
    this.audit.record({ type: 'request.refused', error: 'invalid_token', ...refused, detail });
    return { active: false };
  }

  /** Consumes a proof for a resource server that has cached the token. */
  @MessagePattern(SUBJECTS.consumeProof)
  async consumeProof(@Payload() request: ConsumeProofRequest): Promise<ConsumeProofReply> {
    return this.proofs.consume(request);
  }

  @MessagePattern(SUBJECTS.profile)
  async profile(@Payload() { user_id: id }: ProfileRequest): Promise<ProfileReply> {
    return { user: (await this.users.profile(id)) as ProfileReply['user'] };
  }

  @MessagePattern(SUBJECTS.claims)
  async claims(@Payload() { user_id: id, client_id: clientId }: ClaimsRequest): Promise<ClaimsReply> {
    const [client, claims] = await Promise.all([this.authenticator.find(clientId), this.users.claims(id)]);
    return { claims: client && claims && { sub: subjectOf(client, id), ...claims } };
  }

  /** Consumes only a proof of the token's key, so that clients cannot fill Redis with other proofs. */
  private async consumed({ jkt, proof }: IntrospectionRequest): Promise<{ proof?: ConsumeProofReply }> {
    return proof && proof.jkt === jkt ? { proof: await this.proofs.consume(proof) } : {};
  }
}
