import { Inject, Injectable } from '@nestjs/common';
import { textOf } from '#error-guide/descriptions.js';
import { PROOF_DESCRIPTIONS } from '#error-guide/dpop-checks.js';
import {
  DEFAULT_CLOCK_SKEW,
  DEFAULT_PROOF_LIFETIME,
  type DpopProof,
  DpopVerifier,
  InvalidProofError,
  publicUri,
} from '#oauth/dpop/dpop-verifier.js';
import { checkOf } from '#oauth/oauth-error.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';
import { type AnyToken, Introspector } from './introspector.js';
import { TokenRefusedError } from './refusals.js';

export interface DpopRequest {
  readonly method: string;
  /** Path, with or without the query. */
  readonly path: string;
  readonly authorization: string;
  readonly proof: string | readonly string[] | undefined;
  readonly reference: string;
}

export interface DpopAuthentication {
  readonly token: AnyToken;
  /** Nonce for the client's next proof (RFC 9449 8.2); undefined if no nonce is required. */
  readonly nonce: string | undefined;
}

/** Authenticates requests with `Authorization: DPoP` (RFC 9449 7), which need a bound token and a new proof. */
@Injectable()
export class DpopAuthenticator {
  private readonly verifier: DpopVerifier;

  constructor(
    @Inject(INTROSPECTION_OPTIONS) private readonly options: IntrospectionOptions,
    private readonly introspector: Introspector,
  ) {
    this.verifier = new DpopVerifier({
      lifetime: options.proofLifetime ?? DEFAULT_PROOF_LIFETIME,
      clockSkew: options.clockSkew ?? DEFAULT_CLOCK_SKEW,
      clock: Date.now,
    });
  }

  handles(authorization: string | undefined): authorization is string {
    return this.options.resourceUrl !== undefined && /^dpop(?: |$)/i.test(authorization ?? '');
  }

  /**
   * Rejects an invalid proof without I/O. A valid proof takes one round trip.
   * @throws TokenRefusedError, DependencyUnavailableError
   */
  async authenticate(request: DpopRequest): Promise<DpopAuthentication> {
    const accessToken = /^dpop +([^ ]+)$/i.exec(request.authorization)?.[1];
    if (accessToken === undefined)
      throw new TokenRefusedError(
        'invalid_request',
        'the Authorization header must be: DPoP <access token>, with the proof in the DPoP header',
        { detail: { check: 'authorization_header_malformed' } },
      );
    const proof = await this.verify(request, accessToken);
    const result = await this.introspector.introspectProved(accessToken, proof, request.reference);
    // RFC 9449 4.3, check 12: "confirm that the public key to which the access token is bound matches" the proof.
    if (result.token === null)
      throw new TokenRefusedError(
        'invalid_token',
        'the access token is not valid, or not bound to the key of the proof',
        { detail: { check: 'access_token_inactive', jkt: proof.jkt } },
      );
    const { outcome, nonce } = result.proof;
    const { clientId, grantId, userId } = result.token;
    const owner = { client_id: clientId, grant_id: grantId, ...(userId !== null && { user_id: userId }) };
    if (outcome === 'use_nonce')
      throw new TokenRefusedError(
        'use_dpop_nonce',
        'the proof needs the nonce of the DPoP-Nonce header: repeat the request with it',
        { detail: { check: 'dpop_nonce_expired', ...owner }, nonce },
      );
    if (outcome !== 'consumed')
      throw new TokenRefusedError(
        'invalid_dpop_proof',
        'the proof was used before: make one for each request',
        { detail: { check: 'dpop_proof_replayed', ...owner }, nonce },
      );
    return { token: result.token, nonce };
  }

  private async verify({ method, path, proof }: DpopRequest, accessToken: string): Promise<DpopProof> {
    const uri = publicUri(this.options.resourceUrl ?? '', path);
    try {
      return await this.verifier.verify(proof, { method, uri, accessToken });
    } catch (error) {
      if (!(error instanceof InvalidProofError)) throw error;
      throw new TokenRefusedError('invalid_dpop_proof', textOf(PROOF_DESCRIPTIONS, error.reason), {
        detail: { check: checkOf(error.reason), ...error.compared },
        cause: error,
      });
    }
  }
}
