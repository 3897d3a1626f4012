import { Inject, Injectable } from '@nestjs/common';
import type { DpopProof } from '#oauth/dpop/dpop-verifier.js';
import { isInAudience } from '#oauth/resource.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { type Lookup, InvalidatedCache } from '#messaging/invalidated-cache.js';
import {
  type ConsumeProofReply,
  type IntrospectionReply,
  type IntrospectionRequest,
  parseReply,
  SUBJECTS,
  tagOf,
  userIdOf,
} from '#messaging/contract.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';

export interface TokenInfo {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: number;
  /** Id of the user in the product; null if the user has no such id. */
  readonly externalId: string | null;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** APIs for which the token was requested (RFC 8707), including this API; empty if the token is for every API. */
  readonly audience: readonly string[];
  /** Thumbprint of the token's key (RFC 9449); null for a bearer token. */
  readonly jkt: string | null;
}

/** Access token that a client requested for itself (RFC 6749 4.4). The token has an audience, but no user. */
export interface ClientTokenInfo extends Omit<TokenInfo, 'userId' | 'externalId'> {
  readonly userId: null;
}

/** @internal */
export type AnyToken = TokenInfo | ClientTokenInfo;

/** `token` is null if the access token is invalid or not bound to the key of the proof. */
export type ProvedToken =
  | { readonly token: AnyToken; readonly proof: ConsumeProofReply }
  | { readonly token: null; readonly proof?: undefined };

/** Maximum time in milliseconds for which a token is cached. */
export const CACHED_MS = 30_000;
const CACHED_TOKENS = 10_000;
/** `b64token` of RFC 6750 2.1 with at most 512 characters. Other values are rejected without a request. */
const TOKEN = /^(?=.{1,512}$)[A-Za-z0-9._~+/-]+=*$/;

/** Looks up access tokens in a cache, or by a request to the token app. */
@Injectable()
export class Introspector {
  private readonly cache: InvalidatedCache<AnyToken | null>;

  /** @internal */
  constructor(
    private readonly connection: NatsConnection,
    @Inject(INTROSPECTION_OPTIONS) private readonly options: Pick<IntrospectionOptions, 'resourceUrl'>,
  ) {
    this.cache = new InvalidatedCache<AnyToken | null>(connection.broadcasts, {
      max: CACHED_TOKENS,
      fetch: async (token, reference) => this.tokenOf(await this.request({ token }, reference)),
      tags: (token) =>
        token
          ? [
              tagOf.grant(token.grantId),
              tagOf.client(token.clientId),
              ...(token.userId === null ? [] : [tagOf.user(token.userId)]),
            ]
          : [],
      ttl: (token) => (token ? Math.min(CACHED_MS, token.expiresAt - Date.now()) : 0),
    });
  }

  /** @internal Returns a cached bearer token, without I/O and without a promise. */
  cached(token: string): AnyToken | undefined {
    return TOKEN.test(token) ? (asBearer(this.cache.cached(token)) ?? undefined) : undefined;
  }

  /**
   * Returns null if the token is not a valid bearer token of a user for this API.
   * @param reference request id for logs
   * @throws Error if the token app is unavailable; the API should respond with 503
   */
  async introspect(token: string, reference = ''): Promise<TokenInfo | null> {
    const info = await this.introspectAny(token, reference);
    return info && isOfUser(info) ? info : null;
  }

  /** @internal Like `introspect`, but also returns tokens without a user, which the caller must distinguish. */
  async introspectAny(token: string, reference: string): Promise<AnyToken | null> {
    return TOKEN.test(token) ? asBearer(await this.cache.get(token, reference)) : null;
  }

  /**
   * @internal Returns a token that is bound to the key of the proof, and consumes the proof. Takes one
   * round trip, even for a cached token.
   * @throws DependencyUnavailableError
   */
  async introspectProved(token: string, proof: DpopProof, reference = ''): Promise<ProvedToken> {
    if (!TOKEN.test(token)) return { token: null };
    const { jkt, jti, nonce, expiresAt } = proof;
    const consume = { jkt, jti, ...(nonce !== null && { nonce }), expires_at: expiresAt };
    let consumed: ConsumeProofReply | undefined;
    // Caches one entry per token and key. Tokens do not contain spaces.
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

  /** @internal Reports the outcome of each cache lookup from now on. */
  observe(observer: (lookup: Lookup) => void): void {
    this.cache.observe(observer);
  }

  /** Rejects while NATS is unavailable, for readiness checks. */
  async ping(): Promise<void> {
    await this.connection.ping();
  }

  private request(request: IntrospectionRequest, reference: string): Promise<IntrospectionReply> {
    // A proof can be consumed only once, so a retry would report the proof as replayed.
    const options = { reference, isRepeatable: request.proof === undefined };
    return this.connection.request(SUBJECTS.introspect, request, parseReply.introspect, options);
  }

  private tokenOf(reply: IntrospectionReply): AnyToken | null {
    if (!reply.active) return null;
    const { grant_id: grantId, client_id: clientId, sub, scope, exp, cnf } = reply;
    const { external_id: externalId = null, aud: audience = [] } = reply;
    // A bound token without a thumbprint must not become a bearer token. An empty audience must not mean every API.
    if ('cnf' in reply && !cnf?.jkt) return null;
    if ('aud' in reply && audience.length === 0) return null;
    if (!isInAudience(audience, this.options.resourceUrl)) return null;
    const [scopes, expiresAt, jkt] = [scope.split(' '), exp * 1000, cnf?.jkt ?? null];
    const token = { grantId, clientId, scopes, expiresAt, audience, jkt };
    const userId = userIdOf(sub);
    if (userId !== null) return { ...token, userId, externalId };
    // A token without a user must have an audience.
    return audience.length === 0 ? null : { ...token, userId };
  }
}

export function isOfUser(token: AnyToken): token is TokenInfo {
  return token.userId !== null;
}

/** Returns null for an expired token, and for a bound token, which needs a proof of its key (RFC 9449 7.2). */
function asBearer(token: AnyToken | null | undefined): AnyToken | null {
  const current = unexpired(token);
  return current?.jkt === null ? current : null;
}

function unexpired(token: AnyToken | null | undefined): AnyToken | null {
  return token && token.expiresAt > Date.now() ? token : null;
}
