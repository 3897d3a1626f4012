import { Controller, Logger } from '@nestjs/common';
import { Ctx, MessagePattern, type NatsContext, Payload } from '@nestjs/microservices';
import { GrantEngine } from '#grants/grant-engine.js';
import {
  type IntrospectionReply,
  type IntrospectionRequest,
  REFERENCE_HEADER,
  SUBJECTS,
} from '#introspection/contract.js';
import { UsageRecorder } from '../usage/usage-recorder.service.js';

/** Answers `oauth.token.introspect`: what an access token is good for. Forged ones cost no Redis call. */
@Controller()
export class IntrospectionResponder {
  readonly #logger = new Logger(IntrospectionResponder.name);

  constructor(
    private readonly engine: GrantEngine,
    private readonly usage: UsageRecorder,
  ) {}

  @MessagePattern(SUBJECTS.introspect)
  async introspect(
    @Payload() request: IntrospectionRequest,
    @Ctx() context: NatsContext,
  ): Promise<IntrospectionReply> {
    const result = await this.engine.look(request.token, null);
    if (result.outcome === 'live' && result.token.kind === 'access') {
      const { grant, grantId, token } = result;
      this.usage.note(grantId);
      return {
        active: true,
        grant_id: grantId,
        client_id: grant.clientId,
        sub: String(grant.userId),
        scope: grant.narrowedTo ?? grant.scope,
        exp: token.expiry,
      };
    }
    const headers = context.getHeaders() as { get(name: string): string } | undefined;
    this.#logger.log({
      reference: headers?.get(REFERENCE_HEADER),
      check: result.outcome === 'live' ? 'wrong_kind' : result.outcome,
      grant_id: result.grantId,
      msg: 'access token refused',
    });
    return { active: false };
  }
}
