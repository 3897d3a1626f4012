import { Injectable } from '@nestjs/common';
import { type IntrospectionReply, type IntrospectionRequest, SUBJECTS } from './contract.js';
import { tagOf, TokenServiceConnection } from './token-service.connection.js';
import { TrustedCache } from './trusted-cache.js';

/** What an access token is good for. */
export interface TokenInfo {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: number;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const CACHED_MS = 30_000;
const CACHED_TOKENS = 10_000;
/** RFC 6750 2.1 `b64token`, bounded: nothing else is worth a request. */
const TOKEN = /^[A-Za-z0-9._~+/-]{1,512}=*$/;

/** Tells what access tokens are good for: from its cache without I/O, else by asking the token app. */
@Injectable()
export class Introspector {
  readonly #cache: TrustedCache<TokenInfo | null>;

  constructor(connection: TokenServiceConnection) {
    this.#cache = new TrustedCache<TokenInfo | null>(connection, {
      max: CACHED_TOKENS,
      fetch: async (token, reference) => {
        const request: IntrospectionRequest = { token };
        return read(await connection.request<IntrospectionReply>(SUBJECTS.introspect, request, reference));
      },
      tags: (info) =>
        info ? [tagOf.grant(info.grantId), tagOf.client(info.clientId), tagOf.user(info.userId)] : [],
      ttl: (info) => (info ? Math.min(CACHED_MS, info.expiresAt - Date.now()) : 0),
    });
  }

  /**
   * The token's meaning, or null when it is not (or no longer) valid.
   * @throws IntrospectionUnavailableError when nobody can tell.
   */
  async introspect(token: string, reference = ''): Promise<TokenInfo | null> {
    if (!TOKEN.test(token)) return null;
    const info = await this.#cache.get(token, reference);
    return info && info.expiresAt > Date.now() ? info : null;
  }
}

function read(reply: IntrospectionReply): TokenInfo | null {
  if (!reply.active) return null;
  const { grant_id: grantId, client_id: clientId, sub, scope, exp } = reply;
  return { grantId, clientId, userId: Number(sub), scopes: scope.split(' '), expiresAt: exp * 1000 };
}
