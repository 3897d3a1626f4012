import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { GrantEngine } from '#grants/grant-engine.js';
import type { DpopProof } from '#oauth/dpop/dpop-verifier.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import type { Reason } from '#oauth/reasons.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { DisabledClientsService } from '../introspection/disabled-clients.service.js';
import { RequestCounterStore } from '../request-counter.store.js';
import { TokenConfiguration } from '../token.configuration.js';

const SCOPE = 'events:scope';

/** Requests of a client per minute. Polls for 60,000 events are among them. */
export const MAX_REQUESTS = 600;

/** Scope that a handler of the event API requires. */
export const EventScope = (scope: string): MethodDecorator => SetMetadata(SCOPE, scope);

export type EventRequest = FastifyRequest & { clientId: string };

/**
 * Accepts a client's own token for its event stream (RFC 6749 4.4), as Bearer (RFC 6750) or with a proof (RFC 9449).
 */
@Injectable()
export class EventTokenGuard implements CanActivate {
  constructor(
    private readonly engine: GrantEngine,
    private readonly clients: DisabledClientsService,
    private readonly proofs: DpopProofService,
    private readonly counter: RequestCounterStore,
    private readonly keys: SigningKeys,
    private readonly reflector: Reflector,
    private readonly configuration: TokenConfiguration,
  ) {}

  /**
   * @throws OAuthError not_found without ID_TOKEN_KEYS, which sign the events; invalid_token; insufficient_scope; or
   * with status 429
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.keys.isEmpty) throw new OAuthError('not_found', 404, 'not_found.openid_provider');
    const request = context.switchToHttp().getRequest<EventRequest>();
    const [, scheme = '', text = ''] =
      /^(bearer|dpop) +([^ ]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (text === '') throw challenged('event_token_missing', 401);
    const isDpop = scheme.toLowerCase() === 'dpop';
    const proof = isDpop ? await this.proofs.verify(request, 401, text) : null;
    const found = await this.clients.check(await this.engine.introspect(text, proof?.jkt ?? null));
    if (found.outcome !== 'active' || found.token.kind !== 'access')
      throw challenged('event_token_inactive', 401);
    const { grant, audience, scope } = found;
    addLogContext(request.raw, { client_id: grant.clientId, grant_id: found.grantId });
    const isForEvents = audience === this.configuration.BASE_URL + ENDPOINTS.events;
    if (grant.userId !== null || !isForEvents) throw challenged('event_token_inactive', 401);
    const required = this.reflector.get<string>(SCOPE, context.getHandler());
    if (!scope.split(' ').includes(required))
      throw challenged({ id: 'event_scope_insufficient', scope: required }, 403);
    if (proof) await this.consume(proof);
    await this.count(grant.clientId);
    request.clientId = grant.clientId;
    return true;
  }

  private async count(clientId: string): Promise<void> {
    const wait = await this.counter.count('event-requests', clientId, MAX_REQUESTS, 60_000);
    if (wait === 0) return;
    const retryAfter = Math.ceil(wait / 1000);
    throw OAuthError.tooManyRequests({ id: 'event_limit_exceeded', max: MAX_REQUESTS, retryAfter });
  }

  /** RFC 9449 4.3, 9 and 11.1. */
  private async consume({ jkt, jti, nonce, expiresAt }: DpopProof): Promise<void> {
    const request = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    const { outcome, nonce: next } = await this.proofs.consume(request);
    if (outcome === 'consumed') return;
    const headers = next === undefined ? {} : { 'DPoP-Nonce': next };
    if (outcome === 'use_nonce')
      throw new OAuthError('use_dpop_nonce', 401, 'dpop_nonce_expired', { headers });
    throw new OAuthError('invalid_dpop_proof', 401, 'dpop_proof_replayed', { headers });
  }
}

/** RFC 6750 3: without a token, the challenge has no error. */
function challenged(reason: Reason, status: 401 | 403): OAuthError {
  const code = status === 403 ? 'insufficient_scope' : 'invalid_token';
  const challenge = reason === 'event_token_missing' ? 'Bearer realm="events"' : `Bearer error="${code}"`;
  return new OAuthError(code, status, reason, { headers: { 'WWW-Authenticate': challenge } });
}
