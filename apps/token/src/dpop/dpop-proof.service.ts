import { Inject, Injectable } from '@nestjs/common';
import type { DpopProof } from '#oauth/dpop/dpop-proof.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { ConsumeProofReply, ConsumeProofRequest } from '#introspection/contract.js';
import { KeyRing } from '#grants/key-ring.js';
import { TokenConfiguration } from '../token.configuration.js';
import { DpopNonce } from './dpop-nonce.js';
import { ProofStore } from './proof.store.js';

/** Clocks of those who verify and of those who remember may differ by this much. */
const MARGIN_MS = 30_000;
/** Nobody takes a proof for longer. */
const MAX_TTL_MS = 2 * 60 * 60 * 1000;

/** The two checks of RFC 9449 4.3 that need the server's memory: the nonce is ours, and the proof was not used before. */
@Injectable()
export class DpopProofService {
  private readonly nonces: DpopNonce;
  private readonly required: boolean;

  constructor(
    @Inject(TokenConfiguration) { TOKEN_KEYS, DPOP_NONCE }: TokenConfiguration,
    private readonly store: ProofStore,
  ) {
    this.nonces = new DpopNonce(KeyRing.parse(TOKEN_KEYS).nonceKeys, Date.now);
    this.required = DPOP_NONCE === 'required';
  }

  /** The nonce for a client's next proof; undefined where none is required: who was given one must use it (11.3). */
  get nonce(): string | undefined {
    return this.required ? this.nonces.current() : undefined;
  }

  /**
   * Whether a proof's nonce is good (4.3, 10): "If the server provided a nonce value to the client, the nonce claim
   * matches the server-provided nonce value." Where none is required none was provided, and the claim means nothing.
   */
  acceptsNonce(nonce: string | null | undefined): boolean {
    return !this.required || this.nonces.accepts(nonce ?? '');
  }

  /**
   * The key that a request proved, whose proof is used up by it; null where there is no proof.
   * @throws OAuthError invalid_dpop_proof, ProofStoreUnavailableError
   */
  async keyOf(proof: DpopProof | undefined): Promise<string | null> {
    if (!proof) return null;
    const { jkt, jti, nonce, expiresAt } = proof;
    const request = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    if ((await this.consume(request)).outcome === 'consumed') return jkt;
    // RFC 9449 11.1: "servers can store, in the context of the target URI, the jti value of each DPoP proof".
    throw new OAuthError('invalid_dpop_proof', 400, 'the proof was used before: make one for each request', {
      detail: { check: 'dpop replay', jkt },
    });
  }

  /** Uses a proof up, unless its nonce is not good. @throws ProofStoreUnavailableError */
  async consume({ jkt, jti, nonce, expires_at: expiresAt }: ConsumeProofRequest): Promise<ConsumeProofReply> {
    const next = this.nonce === undefined ? {} : { nonce: this.nonce };
    if (!this.acceptsNonce(nonce)) return { outcome: 'use_nonce', ...next };
    const ttl = Math.ceil(Math.max(expiresAt - Date.now(), 0)) + MARGIN_MS;
    // Refused rather than forgotten while somebody would still take it.
    const fresh = ttl <= MAX_TTL_MS && (await this.store.consume(jkt, jti, ttl));
    return { outcome: fresh ? 'consumed' : 'replayed', ...next };
  }
}
