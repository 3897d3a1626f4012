import { randomBytes } from 'node:crypto';
import type { ActiveGrant, TokenPair } from './grant.js';
import { grantId } from './grant-id.js';
import type { Lifetimes } from './lifetimes.js';
import { HANDLE_BYTES, type Token, type TokenCodec } from './token-codec.js';

/** Computes the tokens that are views of a grant. Pure but for the handle of a new code. */
export class TokenIssuer {
  constructor(
    private readonly codec: TokenCodec,
    private readonly lifetimes: Lifetimes,
    private readonly random: (bytes: number) => Buffer = randomBytes,
  ) {}

  /** A code for a grant that does not exist yet, and the id under which to store it. `now` in milliseconds. */
  code(now: number): { readonly code: string; readonly grantId: string } {
    const handle = this.random(HANDLE_BYTES);
    const expiry = seconds(now) + this.lifetimes.code;
    return {
      code: this.codec.encode({ kind: 'code', handle, generation: 0, expiry, narrowed: false, jkt: null }),
      grantId: grantId(handle),
    };
  }

  /**
   * The pair of a grant's present generation. Expiries count from the rotation, not from now: the same
   * generation always gives the same two tokens, which is what makes a retry safe.
   */
  pair(
    handle: Buffer,
    { generation, rotatedAt, scope, jkt, narrowedTo }: ActiveGrant,
    now: number,
  ): TokenPair {
    const accessExpiry = seconds(rotatedAt) + this.lifetimes.accessToken;
    const refreshExpiry = seconds(rotatedAt) + this.lifetimes.refreshToken;
    const shared = { handle, generation, jkt };
    const narrowed = narrowedTo !== null;
    return {
      accessToken: this.codec.encode({ ...shared, kind: 'access', expiry: accessExpiry, narrowed }),
      refreshToken: this.codec.encode({ ...shared, kind: 'refresh', expiry: refreshExpiry, narrowed: false }),
      type: jkt === null ? 'Bearer' : 'DPoP',
      expiresIn: Math.max(0, accessExpiry - seconds(now)),
      scope: narrowedTo ?? scope,
    };
  }

  /** When a token's generation began, as far as its expiry tells (milliseconds). */
  issuedAt({ kind, expiry }: Token): number {
    return (expiry - (kind === 'access' ? this.lifetimes.accessToken : this.lifetimes.refreshToken)) * 1000;
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
