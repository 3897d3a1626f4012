import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DpopProof } from '#oauth/dpop/dpop-verifier.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { Parameters } from '#oauth/parameters.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { type ClientRequest, unverifiedClientId } from '../client-auth/client-authenticator.js';
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
  constructor(private readonly proofs: DpopProofService) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest<{ Body: Parameters | undefined }> & ProvedRequest>();
    return request.headers['dpop'] === undefined || this.prove(request, http.getResponse<FastifyReply>());
  }

  private async prove(
    request: FastifyRequest<{ Body: Parameters | undefined }> & ProvedRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    // RFC 9449 8.2: responses to requests with a proof, even errors, supply the nonce for the next request.
    const { nonce } = this.proofs;
    if (nonce !== undefined) void reply.header('DPoP-Nonce', nonce);
    try {
      const proof = await this.proofs.verify(request, 400);
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
}

/** Returns the error for a required nonce that is missing, expired or not from this server (RFC 9449 8). */
function useNonce({ nonce, jkt }: DpopProof): OAuthError {
  const reason = nonce === null ? 'dpop_nonce_missing' : 'dpop_nonce_expired';
  return new OAuthError('use_dpop_nonce', 400, reason, { detail: { jkt } });
}
