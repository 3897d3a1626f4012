import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type DpopProof, DpopVerifier, InvalidProofError, publicUri } from '#oauth/dpop/dpop-verifier.js';
import type { ClientWithSecrets } from '#clients/client.js';
import { FAPI_ALGORITHMS, isFapiAlgorithm } from '#oauth/jwk.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { ConsumeProofReply, ConsumeProofRequest } from '#messaging/contract.js';
import { KeyRing } from '#keys/key-ring.js';
import { addressSite } from '#platform/http/client-address.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { RequestCounterStore } from '../request-counter.store.js';
import { TokenConfiguration } from '../token.configuration.js';
import { ProofStore } from './proof.store.js';

/** Maximum difference between the clocks of this app and of the app that verifies a proof. */
const MARGIN_MS = 30_000;
/** Exceeds the time for which any verifier accepts a proof. */
const MAX_TTL_MS = 2 * 60 * 60 * 1000;

/** Proofs of public clients from an address (IPv6: a /48) while the first of them is stored. */
export const PROOF_LIMIT = 2000;

/** Performs the checks of RFC 9449 4.3. Two need state: the server issued the nonce, and the proof is new. */
@Injectable()
export class DpopProofService {
  private readonly verifier: DpopVerifier;
  private readonly nonces: DpopNonce;
  private readonly required: boolean;
  private readonly key: Buffer;

  constructor(
    private readonly configuration: TokenConfiguration,
    keys: KeyRing,
    private readonly store: ProofStore,
    private readonly counter: RequestCounterStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const { DPOP_PROOF_LIFETIME: lifetime, CLOCK_SKEW: clockSkew, DPOP_NONCE } = configuration;
    this.verifier = new DpopVerifier({ lifetime, clockSkew, clock });
    this.nonces = new DpopNonce(keys.keysFor('nonce'), clock);
    this.key = keys.signingKeyFor('throttle');
    this.required = DPOP_NONCE === 'required';
  }

  /**
   * Nonce for the client's next proof. Undefined if no nonce is required, because a server that has provided a nonce
   * must reject proofs without a nonce (RFC 9449 11.3).
   */
  get nonce(): string | undefined {
    return this.required ? this.nonces.current() : undefined;
  }

  /**
   * Verifies the proof of a request without I/O.
   * @param status of the error: 400 for a request that gets a token, 401 for a request with `accessToken`
   * @throws OAuthError invalid_dpop_proof
   */
  async verify(
    { headers, method, originalUrl }: Pick<FastifyRequest, 'headers' | 'method' | 'originalUrl'>,
    status: 400 | 401,
    accessToken?: string,
  ): Promise<DpopProof> {
    const uri = publicUri(this.configuration.BASE_URL, originalUrl);
    try {
      return await this.verifier.verify(headers['dpop'], {
        method,
        uri,
        ...(accessToken !== undefined && { accessToken }),
      });
    } catch (error) {
      if (!(error instanceof InvalidProofError)) throw error;
      throw new OAuthError('invalid_dpop_proof', status, error.reason, {
        detail: error.compared,
        cause: error,
      });
    }
  }

  /** RFC 9449 4.3, check 10: "the nonce claim matches the server-provided nonce value". */
  acceptsNonce(nonce: string | null | undefined): boolean {
    return !this.required || this.nonces.accepts(nonce ?? '');
  }

  /**
   * Consumes the proof of a request, if it has one. Counts the proofs of public clients by address, because anyone can
   * send requests of a public client.
   * @returns thumbprint of the proof's key
   * @throws OAuthError invalid_dpop_proof, or with status 429; DependencyUnavailableError
   */
  async consumeProof(
    { proof, ip }: { readonly proof?: DpopProof; readonly ip: string },
    client: Pick<ClientWithSecrets, 'clientId' | 'profile' | 'type'>,
  ): Promise<string | null> {
    if (!proof) return null;
    checkAlgorithm(proof, client);
    const { jkt, jti, nonce, expiresAt } = proof;
    if (client.type === 'public') await this.count(ip, expiresAt);
    const request = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    if ((await this.consume(request)).outcome === 'consumed') return jkt;
    // RFC 9449 11.1: "In the context of the target URI, servers can store the jti value of each DPoP proof".
    throw new OAuthError('invalid_dpop_proof', 400, 'dpop_proof_replayed', { detail: { jkt } });
  }

  private async count(address: string, expiresAt: number): Promise<void> {
    const network = createHmac('sha256', this.key)
      .update(`dpop:${addressSite(address)}`)
      .digest('base64url');
    const wait = await this.counter.count('dpop-from', network, PROOF_LIMIT, this.ttlOf(expiresAt));
    if (wait > 0)
      throw OAuthError.tooManyRequests({ id: 'proof_limit_exceeded', retryAfter: Math.ceil(wait / 1000) });
  }

  private ttlOf(expiresAt: number): number {
    return Math.ceil(Math.max(expiresAt - this.clock(), 0)) + MARGIN_MS;
  }

  /** Does not consume a proof with a wrong nonce. @throws DependencyUnavailableError */
  async consume({ jkt, jti, nonce, expires_at: expiresAt }: ConsumeProofRequest): Promise<ConsumeProofReply> {
    const next = this.nonce === undefined ? {} : { nonce: this.nonce };
    if (!this.acceptsNonce(nonce)) return { outcome: 'use_nonce', ...next };
    const ttl = this.ttlOf(expiresAt);
    // Rejects a longer TTL. If the TTL were shortened instead, the proof could be replayed after its expiry in Redis.
    const fresh = ttl <= MAX_TTL_MS && (await this.store.consume(jkt, jti, ttl));
    return { outcome: fresh ? 'consumed' : 'replayed', ...next };
  }
}

/**
 * Section 5.4.1 of FAPI 2.0 limits the algorithms. A pushed request must not bind a code to a key that the exchange
 * rejects.
 */
function checkAlgorithm(
  { alg }: DpopProof,
  { clientId, profile }: Pick<ClientWithSecrets, 'clientId' | 'profile'>,
): void {
  if (profile !== 'fapi2' || isFapiAlgorithm(alg)) return;
  throw new OAuthError(
    'invalid_dpop_proof',
    400,
    { id: 'dpop_alg_unsupported.fapi', algorithms: FAPI_ALGORITHMS },
    { detail: { client_id: clientId, sent: alg } },
  );
}

/** A nonce is issued in one window, and is also accepted in the next window. */
const WINDOW_MS = 5 * 60 * 1000;
const WINDOW_BYTES = 6;
const MAC_BYTES = 18;
const NONCE = /^[\w-]{32}$/;

/** Nonces (RFC 9449 8) that are the same in all replicas without state: the window number followed by its HMAC. */
export class DpopNonce {
  private latest: { readonly window: number; readonly nonce: string } | undefined;

  /** @param keys MAC keys; the first key is for new nonces */
  constructor(
    private readonly keys: readonly Buffer[],
    private readonly clock: Clock,
  ) {}

  current(): string {
    const window = this.window();
    if (this.latest?.window !== window) this.latest = { window, nonce: this.nonces(window)[0] ?? '' };
    return this.latest.nonce;
  }

  accepts(nonce: string): boolean {
    if (!NONCE.test(nonce)) return false;
    const bytes = Buffer.from(nonce, 'base64url');
    const window = bytes.readUIntBE(0, WINDOW_BYTES);
    // Another replica's clock may already be in the next window.
    if (Math.abs(window - this.window()) > 1) return false;
    return this.nonces(window).some((issued) => timingSafeEqual(Buffer.from(issued, 'base64url'), bytes));
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
