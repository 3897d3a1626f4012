import { Injectable } from '@nestjs/common';
import {
  type IntrospectionReply,
  type IntrospectionRequest,
  type ConsumeProofReply,
  SUBJECTS,
} from './contract.js';
import type { DpopProof } from '#oauth/dpop/dpop-proof.js';
import { tagOf, TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { type Lookup, TrustedCache } from '#platform/nats/trusted-cache.js';

/** What an access token is good for. */
export interface TokenInfo {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: number;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Thumbprint of the key it is bound to (RFC 9449); null for a bearer token. */
  readonly jkt: string | null;
}

/** A token that came with a proof, and what became of the proof; no token when it is not good with that key. */
export type ProvedToken =
  | { readonly token: TokenInfo; readonly proof: ConsumeProofReply }
  | { readonly token: null; readonly proof?: undefined };

/** For as long a token may be believed that nobody said was revoked. */
export const CACHED_MS = 30_000;
const CACHED_TOKENS = 10_000;
/** RFC 6750 2.1 `b64token`, bounded: nothing else is worth a request. */
const TOKEN = /^(?=.{1,512}$)[A-Za-z0-9._~+/-]+=*$/;

/** Tells what access tokens are good for: from its cache without I/O, else by asking the token app. */
@Injectable()
export class Introspector {
  private readonly cache: TrustedCache<TokenInfo | null>;

  constructor(private readonly connection: TokenServiceConnection) {
    this.cache = new TrustedCache<TokenInfo | null>(connection, {
      max: CACHED_TOKENS,
      fetch: async (token, reference) => read(await this.ask({ token }, reference)),
      tags: (info) =>
        info ? [tagOf.grant(info.grantId), tagOf.client(info.clientId), tagOf.user(info.userId)] : [],
      ttl: (info) => (info ? Math.min(CACHED_MS, info.expiresAt - Date.now()) : 0),
    });
  }

  /**
   * The meaning of a bearer token, or null when it is not (or no longer) valid, or bound to a key.
   * @throws IntrospectionUnavailableError when nobody can tell.
   */
  async introspect(token: string, reference = ''): Promise<TokenInfo | null> {
    const info = TOKEN.test(token) ? live(await this.cache.get(token, reference)) : null;
    return info?.jkt === null ? info : null;
  }

  /**
   * The meaning of a token that is bound to the key of a proof, and the proof consumed: one round trip, be the token
   * cached or not.
   * @throws IntrospectionUnavailableError when nobody can tell.
   */
  async introspectProved(token: string, proof: DpopProof, reference = ''): Promise<ProvedToken> {
    if (!TOKEN.test(token)) return { token: null };
    const { jkt, jti, nonce, expiresAt } = proof;
    const consume = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    let consumed: ConsumeProofReply | undefined;
    // Another key is another entry. No token holds a space.
    const info = await this.cache.get(`${token} ${jkt}`, reference, async () => {
      // When a broadcast overtakes the answer, it is asked for again: the proof is consumed by then.
      const reply = await this.ask({ token, jkt, ...(!consumed && { proof: consume }) }, reference);
      if (reply.active) consumed ??= reply.proof;
      return read(reply);
    });
    const bound = live(info);
    if (bound?.jkt !== jkt) return { token: null };
    consumed ??= await this.connection.request<ConsumeProofReply>(SUBJECTS.consumeProof, consume, reference);
    return { token: bound, proof: consumed };
  }

  /** Tells how each look into the cache of tokens goes from now on, to be counted. */
  observe(observer: (lookup: Lookup) => void): void {
    this.cache.observe(observer);
  }

  private ask(request: IntrospectionRequest, reference: string): Promise<IntrospectionReply> {
    return this.connection.request<IntrospectionReply>(SUBJECTS.introspect, request, reference);
  }
}

function live(info: TokenInfo | null): TokenInfo | null {
  return info && info.expiresAt > Date.now() ? info : null;
}

function read(reply: IntrospectionReply): TokenInfo | null {
  if (!reply.active) return null;
  const { grant_id: grantId, client_id: clientId, sub, scope, exp, cnf } = reply;
  // Fail closed: a bound token without its thumbprint must not pass as a bearer token.
  if ('cnf' in reply && !cnf?.jkt) return null;
  const [scopes, expiresAt] = [scope.split(' '), exp * 1000];
  return { grantId, clientId, userId: Number(sub), scopes, expiresAt, jkt: cnf?.jkt ?? null };
}
