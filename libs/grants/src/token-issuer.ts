import { randomBytes } from 'node:crypto';
import { DEVICE_CODE_LIFETIME } from '#oauth/device-authorization.js';
import type { ActiveGrant, ClientGrant, ClientToken, RequestedAccess, TokenPair } from './grant.js';
import type { Lifetimes } from './lifetimes.js';
import { grantId, HANDLE_BYTES, SCOPE_MASK_BITS, type Token, type TokenCodec } from './token-codec.js';

interface NewCode {
  readonly code: string;
  readonly grantId: string;
}

/** Computes the tokens of a grant without storing anything. */
export class TokenIssuer {
  constructor(
    private readonly codec: TokenCodec,
    private readonly lifetimes: Lifetimes,
    private readonly random: (bytes: number) => Buffer = randomBytes,
  ) {}

  /** @param handle derived from a form, which then gets the same code again; random by default */
  code(now: number, handle = this.random(HANDLE_BYTES)): NewCode {
    return this.newCode('code', seconds(now) + this.lifetimes.code, handle);
  }

  /** Creates a device code (RFC 8628 3.2). */
  deviceCode(now: number): NewCode {
    return this.newCode('device', seconds(now) + DEVICE_CODE_LIFETIME, this.random(HANDLE_BYTES));
  }

  private newCode(kind: 'code' | 'device', expiry: number, handle: Buffer): NewCode {
    const code = this.codec.encode({
      kind,
      handle,
      generation: 0,
      expiry,
      scopeMask: 0,
      audience: null,
      jkt: null,
    });
    return { code, grantId: grantId(handle) };
  }

  /**
   * Computes expiries from the time of the rotation, so that a retry gets the same tokens without a stored response.
   * @throws RangeError for a bearer token of a bound grant, or a scope token beyond SCOPE_MASK_BITS
   */
  pair(
    handle: Buffer,
    grant: ActiveGrant,
    { scope, resources, jkt }: RequestedAccess,
    now: number,
  ): TokenPair {
    const { generation, rotatedAt } = grant;
    const end = grant.endsAt ? seconds(grant.endsAt) : Infinity;
    if (grant.jkt !== null && jkt === null) throw new RangeError('a bound grant has no bearer access token');
    const accessExpiry = Math.min(seconds(rotatedAt) + this.lifetimes.accessToken, end);
    const refreshExpiry = Math.min(seconds(rotatedAt) + this.lifetimes.refreshToken, end);
    const scopeMask = scopeMaskOf(grant.scope, scope);
    const shared = { handle, generation };
    // RFC 8707 2.2: "any refresh token that is returned is bound to the full original grant".
    const ofAccess = { expiry: accessExpiry, scopeMask, audience: resources ?? grant.resources, jkt };
    const ofRefresh = { expiry: refreshExpiry, scopeMask: 0, audience: null, jkt: grant.jkt };
    return {
      accessToken: this.codec.encode({ ...shared, kind: 'access', ...ofAccess }),
      refreshToken: this.codec.encode({ ...shared, kind: 'refresh', ...ofRefresh }),
      type: jkt === null ? 'Bearer' : 'DPoP',
      expiresIn: Math.max(0, accessExpiry - seconds(now)),
      scope: maskedScope(grant.scope, scopeMask),
    };
  }

  clientToken({ version, scope, resource, jkt }: ClientGrant, now: number, lifetime: number): ClientToken {
    const handle = this.random(HANDLE_BYTES);
    const accessToken = this.codec.encode({
      kind: 'access',
      handle,
      generation: version,
      expiry: seconds(now) + lifetime,
      scopeMask: 0,
      audience: resource,
      jkt,
    });
    const type = jkt === null ? 'Bearer' : 'DPoP';
    return { grantId: grantId(handle), accessToken, type, expiresIn: lifetime, scope };
  }

  /**
   * Computes the start of the token's generation from its expiry, in milliseconds rounded down to a second. The result
   * is too early for a token that expires with its grant, which only closes the retry window.
   */
  issuedAt({ kind, expiry }: Token): number {
    return (expiry - (kind === 'access' ? this.lifetimes.accessToken : this.lifetimes.refreshToken)) * 1000;
  }
}

/** Selects the scope tokens of a mask, in the order of the grant; all scope tokens for 0. */
export function maskedScope(granted: string, mask: number): string {
  if (mask === 0) return granted;
  return granted
    .split(' ')
    .filter((_, position) => position < SCOPE_MASK_BITS && (mask & (1 << position)) !== 0)
    .join(' ');
}

/**
 * Returns the mask of the granted tokens among the requested ones.
 * @throws RangeError instead of a mask of 0, which means the whole scope: if no requested token is granted, or for a
 * token beyond SCOPE_MASK_BITS
 */
function scopeMaskOf(granted: string, requested: string | null): number {
  if (requested === null) return 0;
  const wanted = new Set(requested.split(' '));
  const tokens = granted.split(' ');
  if (tokens.every((token) => wanted.has(token))) return 0;
  const requestedMask = tokens.reduce((mask, token, position) => {
    if (!wanted.has(token)) return mask;
    if (position >= SCOPE_MASK_BITS) throw new RangeError(`a grant has more than ${SCOPE_MASK_BITS} scopes`);
    return mask | (1 << position);
  }, 0);
  if (requestedMask === 0) throw new RangeError('no requested scope is granted');
  return requestedMask;
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
