import { Inject, Injectable } from '@nestjs/common';
import type { DpopProof } from '#oauth/dpop/dpop-verifier.js';
import { isInAudience } from '#oauth/audience.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';
import { type Lookup, TrustedCache } from '#platform/nats/trusted-cache.js';
import {
  type ConsumeProofReply,
  type IntrospectionReply,
  type IntrospectionRequest,
  parseReply,
  SUBJECTS,
  tagOf,
} from './contract.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';

/** A valid access token. */
export interface TokenInfo {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: number;
  /** The product's own id of the user; null for a user without one. */
  readonly externalId: string | null;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The APIs that the client requested the token for (RFC 8707), this one among them; empty for a token for every API. */
  readonly audience: readonly string[];
  /** Thumbprint of the key that the token is bound to (RFC 9449); null for a bearer token. */
  readonly jkt: string | null;
}

/** A token with the result of its proof; null when the token is not valid with the key of the proof. */
export type ProvedToken =
  | { readonly token: TokenInfo; readonly proof: ConsumeProofReply }
  | { readonly token: null; readonly proof?: undefined };

/** How long an answer of the token app is cached, unless a revocation evicts it. */
export const CACHED_MS = 30_000;
const CACHED_TOKENS = 10_000;
/** RFC 6750 2.1 `b64token`, at most 512 characters: any other value is refused without a request. */
const TOKEN = /^(?=.{1,512}$)[A-Za-z0-9._~+/-]+=*$/;

/** Introspects access tokens: from a cache, or by a request to the token app over NATS. */
@Injectable()
export class Introspector {
  private readonly cache: TrustedCache<TokenInfo | null>;

  /** @internal */
  constructor(
    private readonly connection: NatsConnection,
    @Inject(INTROSPECTION_OPTIONS) private readonly options: Pick<IntrospectionOptions, 'resourceUrl'>,
  ) {
    this.cache = new TrustedCache<TokenInfo | null>(connection, {
      max: CACHED_TOKENS,
      fetch: async (token, reference) => this.tokenOf(await this.request({ token }, reference)),
      tags: (token) =>
        token ? [tagOf.grant(token.grantId), tagOf.client(token.clientId), tagOf.user(token.userId)] : [],
      ttl: (token) => (token ? Math.min(CACHED_MS, token.expiresAt - Date.now()) : 0),
    });
  }

  /**
   * A valid bearer token that is cached, else undefined: no I/O, no promise.
   *
   * @internal
   */
  cached(token: string): TokenInfo | undefined {
    return TOKEN.test(token) ? (asBearer(this.cache.cached(token)) ?? undefined) : undefined;
  }

  /**
   * A bearer token, or null when it is not valid, not valid any more, bound to a key, or for another API.
   *
   * @param reference id of the request in logs
   * @throws Error when the token app does not answer: refuse the request with 503
   */
  async introspect(token: string, reference = ''): Promise<TokenInfo | null> {
    return TOKEN.test(token) ? asBearer(await this.cache.get(token, reference)) : null;
  }

  /**
   * A token that is bound to the key of a proof; consumes the proof if it is. One round trip, whether the token is cached
   * or not.
   *
   * @throws DependencyUnavailableError
   * @internal
   */
  async introspectProved(token: string, proof: DpopProof, reference = ''): Promise<ProvedToken> {
    if (!TOKEN.test(token)) return { token: null };
    const { jkt, jti, nonce, expiresAt } = proof;
    const consume = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    let consumed: ConsumeProofReply | undefined;
    // One entry for each key. No token contains a space.
    const cached = await this.cache.get(`${token} ${jkt}`, reference, async () => {
      const reply = await this.request({ token, jkt, proof: consume }, reference);
      if (reply.active) consumed = reply.proof;
      return this.tokenOf(reply);
    });
    const bound = unexpired(cached);
    if (bound?.jkt !== jkt) return { token: null };
    consumed ??= await this.connection.request(SUBJECTS.consumeProof, consume, parseReply.consumeProof, {
      reference,
    });
    return { token: bound, proof: consumed };
  }

  /**
   * Reports the outcome of each lookup in the cache of tokens from now on.
   *
   * @internal
   */
  observe(observer: (lookup: Lookup) => void): void {
    this.cache.observe(observer);
  }

  /** For readiness checks: rejects while NATS does not answer, and every request gets 503. */
  async ping(): Promise<void> {
    await this.connection.ping();
  }

  private request(request: IntrospectionRequest, reference: string): Promise<IntrospectionReply> {
    // A proof is consumed once: a second try would report it as replayed.
    const options = { reference, isRepeatable: request.proof === undefined };
    return this.connection.request(SUBJECTS.introspect, request, parseReply.introspect, options);
  }

  private tokenOf(reply: IntrospectionReply): TokenInfo | null {
    if (!reply.active) return null;
    const { grant_id: grantId, client_id: clientId, sub, scope, exp, cnf } = reply;
    const { external_id: externalId = null, aud: audience = [] } = reply;
    // Fail closed: a bound token without its thumbprint must not pass as a bearer token, nor one for no API as one for all.
    if ('cnf' in reply && !cnf?.jkt) return null;
    if ('aud' in reply && audience.length === 0) return null;
    if (!isInAudience(audience, this.options.resourceUrl)) return null;
    const [scopes, expiresAt, jkt] = [scope.split(' '), exp * 1000, cnf?.jkt ?? null];
    return { grantId, clientId, userId: Number(sub), externalId, scopes, expiresAt, audience, jkt };
  }
}

/** Null for a bound token: without a proof of its key it must not pass (RFC 9449 7.2). */
function asBearer(token: TokenInfo | null | undefined): TokenInfo | null {
  const current = unexpired(token);
  return current?.jkt === null ? current : null;
}

function unexpired(token: TokenInfo | null | undefined): TokenInfo | null {
  return token && token.expiresAt > Date.now() ? token : null;
}
