import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DpopProof, DpopVerifier, InvalidProofError, publicUri } from '#oauth/dpop/dpop-verifier.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { Parameters } from '#oauth/parameters.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { type ClientRequest, unverifiedClientId } from '../client-auth/client-authenticator.js';
import { TokenConfiguration } from '../token.configuration.js';
import { DpopProofService } from './dpop-proof.service.js';

export interface ProvedRequest extends ClientRequest {
  /** Address of the client, which TRUSTED_PROXIES may report. */
  readonly ip: string;
  /** Valid proof that is not consumed yet; absent if the request has no proof. */
  proof?: DpopProof;
}

/**
 * Verifies the proof of a request (RFC 9449 5) without I/O. The proof is consumed after the client is authenticated.
 */
@Injectable()
export class DpopGuard implements CanActivate {
  private readonly verifier: DpopVerifier;

  constructor(
    private readonly configuration: TokenConfiguration,
    private readonly proofs: DpopProofService,
    @Inject(CLOCK) clock: Clock,
  ) {
    const { DPOP_PROOF_LIFETIME: lifetime, CLOCK_SKEW: clockSkew } = configuration;
    this.verifier = new DpopVerifier({ lifetime, clockSkew, clock });
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest<{ Body: Parameters | undefined }> & ProvedRequest>();
    const { dpop } = request.headers;
    return dpop === undefined || this.prove(dpop, request, http.getResponse<FastifyReply>());
  }

  private async prove(
    field: string | string[],
    request: FastifyRequest<{ Body: Parameters | undefined }> & ProvedRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    // RFC 9449 8.2: responses to requests with a proof, even errors, supply the nonce for the next request.
    const { nonce } = this.proofs;
    if (nonce !== undefined) void reply.header('DPoP-Nonce', nonce);
    try {
      const proof = await this.verify(field, request);
      if (!this.proofs.acceptsNonce(proof.nonce)) throw useNonce(proof);
      request.proof = proof;
      return true;
    } catch (error) {
      // Logs the client_id that the request claims, because no client is authenticated yet.
      addLogContext(request.raw, {
        client_id: unverifiedClientId(request.headers.authorization, request.body),
      });
      throw error;
    }
  }

  private async verify(
    field: string | string[],
    { method, originalUrl }: FastifyRequest,
  ): Promise<DpopProof> {
    const uri = publicUri(this.configuration.BASE_URL, originalUrl);
    try {
      return await this.verifier.verify(field, { method, uri });
    } catch (error) {
      if (!(error instanceof InvalidProofError)) throw error;
      // RFC 9449 5: "an error response per Section 5.2 of [RFC6749] with invalid_dpop_proof"
      throw new OAuthError('invalid_dpop_proof', 400, error.reason, { detail: error.compared, cause: error });
    }
  }
}

/** Returns the error for a required nonce that is missing, expired or not from this server (RFC 9449 8). */
function useNonce({ nonce, jkt }: DpopProof): OAuthError {
  const reason = nonce === null ? 'dpop_nonce_missing' : 'dpop_nonce_expired';
  return new OAuthError('use_dpop_nonce', 400, reason, { detail: { jkt } });
}
