import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DpopProof } from '#oauth/dpop/dpop-verifier.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { ConsumeProofReply, ConsumeProofRequest } from '#introspection/contract.js';
import { KeyRing } from '#grants/key-ring.js';
import { TokenConfiguration } from '../token.configuration.js';
import { ProofStore } from './proof.store.js';

/** The clocks of the app that verifies a proof and of this one may differ by this much. */
const MARGIN_MS = 30_000;
/** No verifier accepts a proof for longer. */
const MAX_TTL_MS = 2 * 60 * 60 * 1000;

/** The two checks of RFC 9449 4.3 that need the server's memory: the nonce is the server's, and the proof is new. */
@Injectable()
export class DpopProofService {
  private readonly nonces: DpopNonce;
  private readonly required: boolean;

  constructor(
    { DPOP_NONCE }: TokenConfiguration,
    keys: KeyRing,
    private readonly store: ProofStore,
  ) {
    this.nonces = new DpopNonce(keys.nonceKeys, Date.now);
    this.required = DPOP_NONCE === 'required';
  }

  /** The nonce for a client's next proof; undefined where none is required, because a client must use one that it gets (11.3). */
  get nonce(): string | undefined {
    return this.required ? this.nonces.current() : undefined;
  }

  /**
   * Whether a proof's nonce is acceptable (4.3, 10): "If the server provided a nonce value to the client, the nonce claim
   * matches the server-provided nonce value." Where none is required none was provided, and the claim is ignored.
   */
  acceptsNonce(nonce: string | null | undefined): boolean {
    return !this.required || this.nonces.accepts(nonce ?? '');
  }

  /**
   * Consumes the proof of a request.
   *
   * @returns thumbprint of the proven key
   * @throws OAuthError invalid_dpop_proof, DependencyUnavailableError
   */
  async provenKey(proof: DpopProof): Promise<string> {
    const { jkt, jti, nonce, expiresAt } = proof;
    const request = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    if ((await this.consume(request)).outcome === 'consumed') return jkt;
    // RFC 9449 11.1: "servers can store, in the context of the target URI, the jti value of each DPoP proof".
    throw new OAuthError('invalid_dpop_proof', 400, 'the proof was used before: make one for each request', {
      detail: { check: 'dpop replay', jkt },
    });
  }

  /** Consumes a proof, unless its nonce is refused. @throws DependencyUnavailableError */
  async consume({ jkt, jti, nonce, expires_at: expiresAt }: ConsumeProofRequest): Promise<ConsumeProofReply> {
    const next = this.nonce === undefined ? {} : { nonce: this.nonce };
    if (!this.acceptsNonce(nonce)) return { outcome: 'use_nonce', ...next };
    const ttl = Math.ceil(Math.max(expiresAt - Date.now(), 0)) + MARGIN_MS;
    // Refused, because it would be forgotten while it is still accepted.
    const fresh = ttl <= MAX_TTL_MS && (await this.store.consume(jkt, jti, ttl));
    return { outcome: fresh ? 'consumed' : 'replayed', ...next };
  }
}

/** A nonce is issued for this long, and accepted for as long again. */
const WINDOW_MS = 5 * 60 * 1000;
const WINDOW_BYTES = 6;
const MAC_BYTES = 18;
const NONCE = /^[\w-]{32}$/;

/**
 * Server-provided nonces (RFC 9449 8): number of the five-minute window ‖ its HMAC. All replicas issue
 * and accept the same nonces, and store nothing.
 */
export class DpopNonce {
  private latest: { readonly window: number; readonly nonce: string } | undefined;

  /**
   * @param keys MAC keys, the first for new nonces
   * @param clock milliseconds since the epoch
   */
  constructor(
    private readonly keys: readonly Buffer[],
    private readonly clock: () => number,
  ) {}

  /** The nonce for a client's next proof. */
  current(): string {
    const window = this.window();
    if (this.latest?.window !== window) this.latest = { window, nonce: this.nonces(window)[0] ?? '' };
    return this.latest.nonce;
  }

  /** Whether a nonce is one of this window or the one before. */
  accepts(nonce: string): boolean {
    if (!NONCE.test(nonce)) return false;
    const bytes = Buffer.from(nonce, 'base64url');
    const window = bytes.readUIntBE(0, WINDOW_BYTES);
    // Another replica's clock may have entered the next window earlier.
    if (Math.abs(window - this.window()) > 1) return false;
    return this.nonces(window).some((ours) => timingSafeEqual(Buffer.from(ours, 'base64url'), bytes));
  }

  private window(): number {
    return Math.floor(this.clock() / WINDOW_MS);
  }

  private nonces(window: number): string[] {
    const bytes = Buffer.alloc(WINDOW_BYTES);
    bytes.writeUIntBE(window, 0, WINDOW_BYTES);
    return this.keys.map((key) => {
      const mac = createHmac('sha256', key).update(bytes).digest().subarray(0, MAC_BYTES);
      return Buffer.concat([bytes, mac]).toString('base64url');
    });
  }
}
