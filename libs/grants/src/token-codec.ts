import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { MAX_AUDIENCE } from '#oauth/resource.js';
import { type MacDomain, TOKEN_KINDS, type KeyRing, type TokenKind } from '#keys/key-ring.js';

/** Fields of a token that this service issued. The caller must check the proof of a bound token (`isProvedBy`). */
export interface Token {
  readonly kind: TokenKind;
  /** 128 random bits that identify the grant, known only to holders of its tokens. */
  readonly handle: Buffer;
  /** 0 for a code and a device code, 1 for the first pair. Each rotation adds one. */
  readonly generation: number;
  /** Seconds since the epoch. */
  readonly expiry: number;
  /**
   * Bit mask over the positions in the grant's scope (RFC 6749 6). 0 means the whole scope, as in every code and
   * refresh token.
   */
  readonly scopeMask: number;
  readonly audience: string | null;
  readonly jkt: string | null;
}

/** Returns true for codes, which cannot be introspected or revoked, but only exchanged for tokens. */
export function isCode(kind: TokenKind): boolean {
  return kind === 'code' || kind === 'device';
}

/** Returns true if a token needs no proof or is bound to the proved key. @param jkt thumbprint of this key, or null */
export function isProvedBy(token: Pick<Token, 'jkt'>, jkt: string | null): boolean {
  return token.jkt === null || token.jkt === jkt;
}

/** Base64url of SHA-256(handle), 43 characters. Safe to store and log, because no token can be derived from an id. */
export function grantId(handle: Buffer): string {
  return hash('sha256', handle, 'base64url');
}

const PREFIXES: Readonly<Record<TokenKind, string>> = {
  code: 'sac_',
  access: 'sat_',
  refresh: 'srt_',
  device: 'sdc_',
};

const VERSION = 3;
export const HANDLE_BYTES = 16;
export const SCOPE_MASK_BITS = 24;
// Fields with their lengths in bytes:
// version 1 ‖ key id 4 ‖ handle 16 ‖ kind 1 ‖ generation 4 ‖ expiry 5 ‖ scope mask 3 ‖ audience (of some access tokens)
// ‖ thumbprint 32 (of a bound token) ‖ MAC 29, or 30 of a bound token. Spaces pad the audience, so that the length is a
// multiple of three bytes: without spare bits in base64url, each token has exactly one spelling.
const AT = {
  version: 0,
  keyId: 1,
  handle: 5,
  kind: 21,
  generation: 22,
  expiry: 26,
  scopeMask: 31,
  audience: 34,
} as const;
const THUMBPRINT_BYTES = 32;
const MAC_BYTES = 29;
const BOUND_MAC_BYTES = 30;
// Flags in the kind byte.
const BOUND = 0x80;
const HAS_AUDIENCE = 0x40;
// A code and a device code are never bound: the client proves its key at redemption.
const TOKEN_TEXT =
  /^(?:(?:sac|sdc)_[A-Za-z0-9_-]{84}|srt_(?:[A-Za-z0-9_-]{84}|[A-Za-z0-9_-]{128})|sat_(?:[A-Za-z0-9_-]{4}){21,117})$/;

/**
 * Returns the handle in a token that this service issued to the process; null for other text. Needs no key, and so does
 * not check the token.
 */
export function handleOf(text: string): Buffer | null {
  if (!TOKEN_TEXT.test(text)) return null;
  const bytes = Buffer.from(text.slice(PREFIXES[kindOf(text)].length), 'base64url');
  return bytes.subarray(AT.handle, AT.kind);
}

/** Encodes and decodes `<prefix>_<base64url>` tokens (docs/adr/0002-token-format.md), without I/O or state. */
export class TokenCodec {
  constructor(private readonly keys: KeyRing) {}

  /**
   * Encodes deterministically, so that a retry gets the same token.
   * @throws RangeError for fields that no token can have
   */
  encode(token: Token): string {
    const { kind, jkt } = token;
    if (jkt !== null && isCode(kind)) throw new RangeError('a code cannot be bound to a key');
    const audience = paddedAudience(token);
    const thumbprint = jkt === null ? Buffer.alloc(0) : thumbprintBytes(jkt);
    const thumbprintAt = AT.audience + audience.length;
    const macAt = thumbprintAt + thumbprint.length;
    const macBytes = jkt === null ? MAC_BYTES : BOUND_MAC_BYTES;
    const bytes = Buffer.alloc(macAt + macBytes);
    bytes.writeUInt8(VERSION, AT.version);
    bytes.writeUInt32BE(this.keys.signingKeyId, AT.keyId);
    token.handle.copy(bytes, AT.handle, 0, HANDLE_BYTES);
    const flags = (jkt === null ? 0 : BOUND) | (audience === '' ? 0 : HAS_AUDIENCE);
    bytes.writeUInt8(TOKEN_KINDS[kind] | flags, AT.kind);
    bytes.writeUInt32BE(token.generation, AT.generation);
    bytes.writeUIntBE(token.expiry, AT.expiry, AT.scopeMask - AT.expiry);
    bytes.writeUIntBE(token.scopeMask, AT.scopeMask, AT.audience - AT.scopeMask);
    bytes.write(audience, AT.audience, 'latin1');
    thumbprint.copy(bytes, thumbprintAt);
    this.mac(bytes.subarray(0, macAt), domainOf(kind, jkt !== null))?.copy(bytes, macAt, 0, macBytes);
    return PREFIXES[kind] + bytes.toString('base64url');
  }

  /** Returns null for a malformed or forged token, or an unknown key. The caller checks proof and expiry. */
  decode(text: string): Token | null {
    if (typeof text !== 'string' || !TOKEN_TEXT.test(text)) return null;
    const kind = kindOf(text);
    const bytes = Buffer.from(text.slice(PREFIXES[kind].length), 'base64url');
    const kindByte = bytes.readUInt8(AT.kind);
    const isBound = (kindByte & BOUND) !== 0;
    const hasAudience = (kindByte & HAS_AUDIENCE) !== 0;
    if (bytes[AT.version] !== VERSION || (kindByte & ~BOUND & ~HAS_AUDIENCE) !== TOKEN_KINDS[kind])
      return null;
    const macAt = bytes.length - (isBound ? BOUND_MAC_BYTES : MAC_BYTES);
    const thumbprintAt = isBound ? macAt - THUMBPRINT_BYTES : macAt;
    if (hasAudience ? thumbprintAt <= AT.audience : thumbprintAt !== AT.audience) return null;
    const mac = this.mac(bytes.subarray(0, macAt), domainOf(kind, isBound));
    if (!mac || !timingSafeEqual(mac.subarray(0, bytes.length - macAt), bytes.subarray(macAt))) return null;
    return {
      kind,
      handle: bytes.subarray(AT.handle, AT.kind),
      generation: bytes.readUInt32BE(AT.generation),
      expiry: bytes.readUIntBE(AT.expiry, AT.scopeMask - AT.expiry),
      scopeMask: bytes.readUIntBE(AT.scopeMask, AT.audience - AT.scopeMask),
      audience: hasAudience ? bytes.toString('latin1', AT.audience, thumbprintAt).trimEnd() : null,
      jkt: isBound ? bytes.toString('base64url', thumbprintAt, macAt) : null,
    };
  }

  /**
   * Returns the HMAC-SHA-256 of all bytes before the MAC, including the thumbprint; undefined for an unknown key id.
   */
  private mac(bytes: Buffer, domain: MacDomain): Buffer | undefined {
    const key = this.keys.subkeys.get(bytes.readUInt32BE(AT.keyId))?.get(domain);
    return key && createHmac('sha256', key).update(bytes).digest();
  }
}

/** Returns the domain of the MAC. Domains have separate subkeys, so that a bound token cannot contain a bearer MAC. */
function domainOf(kind: TokenKind, isBound: boolean): MacDomain {
  return isBound ? `${kind}:dpop` : kind;
}

function thumbprintBytes(jkt: string): Buffer {
  const bytes = Buffer.from(jkt, 'base64url');
  if (bytes.length !== THUMBPRINT_BYTES || bytes.toString('base64url') !== jkt)
    throw new RangeError('a bound token needs the thumbprint of its key: base64url of 32 bytes');
  return bytes;
}

function paddedAudience({ kind, audience }: Token): string {
  if (audience === null) return '';
  if (kind !== 'access' || audience.length > MAX_AUDIENCE || !/^[!-~]+(?: [!-~]+)*$/.test(audience))
    throw new RangeError('only an access token has an audience: identifiers separated by single spaces');
  return audience.padEnd(Math.ceil(audience.length / 3) * 3);
}

const KINDS: ReadonlyMap<string, TokenKind> = new Map(
  Object.entries(PREFIXES).map(([kind, prefix]) => [prefix, kind as TokenKind]),
);

function kindOf(text: string): TokenKind {
  return KINDS.get(text.slice(0, PREFIXES.code.length)) ?? 'refresh';
}
