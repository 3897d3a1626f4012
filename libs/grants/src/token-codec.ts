import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { MAX_AUDIENCE } from '#oauth/audience.js';
import { type MacDomain, TOKEN_KINDS, type KeyRing, type TokenKind } from './key-ring.js';

/** Fields of a token that this service issued; its bearer may have stolen it. */
export interface AuthenticToken {
  readonly kind: TokenKind;
  /** 128 random bits that identify the grant, known only to holders of its tokens. */
  readonly handle: Buffer;
  /** 0 for a code; each refresh adds one. */
  readonly generation: number;
  /** Seconds since the epoch. */
  readonly expiry: number;
  /** To a DPoP key (RFC 9449). */
  readonly bound: boolean;
  /** Bit mask over the positions in the grant's scope (RFC 6749 6); 0 for the whole scope, and for codes and refresh tokens. */
  readonly scopeMask: number;
  /** APIs of an access token (RFC 8707), as `checkResource` returns them; null for every API, codes and refresh tokens. */
  readonly audience: string | null;
  /** The encoded token, for `prove`. */
  readonly bytes: Buffer;
}

/** A token whose binding, if any, was verified. */
export interface Token extends Omit<AuthenticToken, 'bound' | 'bytes'> {
  /** Thumbprint of its key (RFC 7638); null for a bearer token. */
  readonly jkt: string | null;
}

/** Base64url of SHA-256(handle), 43 characters. Safe to store and log: no token can be derived from it. */
export function grantId(handle: Buffer): string {
  return hash('sha256', handle, 'base64url');
}

const PREFIXES: Readonly<Record<TokenKind, string>> = { code: 'sac_', access: 'sat_', refresh: 'srt_' };

const VERSION = 3;
export const HANDLE_BYTES = 16;
const BINDING_BYTES = 18;
/** Highest number of scope tokens that a mask covers. */
export const SCOPE_MASK_BITS = 24;
// version 1 ‖ key id 4 ‖ handle 16 ‖ kind 1 ‖ generation 4 ‖ expiry 5 ‖ scope mask 3 ‖ audience (of some access tokens)
// ‖ MAC 29, and for a bound token ‖ binding 18, a MAC that covers the key's thumbprint. Spaces pad the audience, so that the
// length is a multiple of three bytes: without spare bits in base64url, each token has exactly one spelling.
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
const MAC_BYTES = 29;
// Flags in the kind byte.
const BOUND = 0x80;
const HAS_AUDIENCE = 0x40;
// A code is never bound: the client proves its key at redemption.
const TOKEN_TEXT =
  /^(?:sac_[A-Za-z0-9_-]{84}|srt_(?:[A-Za-z0-9_-]{84}|[A-Za-z0-9_-]{108})|sat_(?:[A-Za-z0-9_-]{4}){21,112})$/;

/** Encodes and decodes `<prefix>_<base64url>` tokens (docs/adr/0002), without I/O or state. */
export class TokenCodec {
  constructor(private readonly keys: KeyRing) {}

  /** Deterministic, so that a retry gets the same token. @throws RangeError for a combination that no token can have */
  encode(token: Token): string {
    const { kind, jkt } = token;
    if (jkt === '') throw new RangeError('the thumbprint of a bound token must not be empty');
    if (jkt !== null && kind === 'code') throw new RangeError('a code cannot be bound to a key');
    const audience = paddedAudience(token);
    const macAt = AT.audience + audience.length;
    const bindingAt = macAt + MAC_BYTES;
    const bytes = Buffer.alloc(jkt === null ? bindingAt : bindingAt + BINDING_BYTES);
    bytes.writeUInt8(VERSION, AT.version);
    bytes.writeUInt32BE(this.keys.signingKeyId, AT.keyId);
    token.handle.copy(bytes, AT.handle, 0, HANDLE_BYTES);
    const flags = (jkt === null ? 0 : BOUND) | (audience === '' ? 0 : HAS_AUDIENCE);
    bytes.writeUInt8(TOKEN_KINDS[kind] | flags, AT.kind);
    bytes.writeUInt32BE(token.generation, AT.generation);
    bytes.writeUIntBE(token.expiry, AT.expiry, AT.scopeMask - AT.expiry);
    bytes.writeUIntBE(token.scopeMask, AT.scopeMask, AT.audience - AT.scopeMask);
    bytes.write(audience, AT.audience, 'latin1');
    const fields = bytes.subarray(0, macAt);
    this.mac(fields, jkt === null ? kind : `${kind}:bound`)?.copy(bytes, macAt, 0, MAC_BYTES);
    if (jkt !== null) this.mac(fields, `${kind}:binding`, jkt)?.copy(bytes, bindingAt, 0, BINDING_BYTES);
    return PREFIXES[kind] + bytes.toString('base64url');
  }

  /**
   * Returns null for a malformed, forged or unknown-key token, and for a bound token without its key. The caller checks the expiry,
   * because some callers accept expired tokens.
   * @param jkt thumbprint of the proved key, or null
   */
  decode(text: string, jkt: string | null = null): Token | null {
    const token = this.decodeWithoutKey(text);
    return token && this.prove(token, jkt);
  }

  /** Returns null for a token that is bound to another key than `jkt`. */
  prove({ bound, bytes, ...token }: AuthenticToken, jkt: string | null): Token | null {
    if (!bound) return { ...token, jkt: null };
    if (typeof jkt !== 'string' || jkt === '') return null;
    const bindingAt = bytes.length - BINDING_BYTES;
    const fields = bytes.subarray(0, bindingAt - MAC_BYTES);
    const binding = this.mac(fields, `${token.kind}:binding`, jkt)?.subarray(0, BINDING_BYTES);
    return binding && timingSafeEqual(binding, bytes.subarray(bindingAt)) ? { ...token, jkt } : null;
  }

  /** Does not verify the binding: the bearer may have stolen the token. */
  decodeWithoutKey(text: string): AuthenticToken | null {
    if (typeof text !== 'string' || !TOKEN_TEXT.test(text)) return null;
    const kind = kindOf(text);
    const bytes = Buffer.from(text.slice(PREFIXES[kind].length), 'base64url');
    const kindByte = bytes.readUInt8(AT.kind);
    const bound = (kindByte & BOUND) !== 0;
    const hasAudience = (kindByte & HAS_AUDIENCE) !== 0;
    if (bytes[AT.version] !== VERSION || (kindByte & ~BOUND & ~HAS_AUDIENCE) !== TOKEN_KINDS[kind])
      return null;
    const bindingAt = bound ? bytes.length - BINDING_BYTES : bytes.length;
    const macAt = bindingAt - MAC_BYTES;
    if (hasAudience ? macAt <= AT.audience : macAt !== AT.audience) return null;
    const fields = bytes.subarray(0, macAt);
    const mac = this.mac(fields, bound ? `${kind}:bound` : kind)?.subarray(0, MAC_BYTES);
    if (!mac || !timingSafeEqual(mac, bytes.subarray(macAt, bindingAt))) return null;
    return {
      kind,
      handle: bytes.subarray(AT.handle, AT.kind),
      generation: bytes.readUInt32BE(AT.generation),
      expiry: bytes.readUIntBE(AT.expiry, AT.scopeMask - AT.expiry),
      scopeMask: bytes.readUIntBE(AT.scopeMask, AT.audience - AT.scopeMask),
      audience: hasAudience ? bytes.toString('latin1', AT.audience, macAt).trimEnd() : null,
      bound,
      bytes,
    };
  }

  /** HMAC-SHA-256. Each domain has its own subkey, so copying one MAC of a token over another never verifies. */
  private mac(fields: Buffer, domain: MacDomain, jkt = ''): Buffer | undefined {
    const key = this.keys.subkey(fields.readUInt32BE(AT.keyId), domain);
    return key && createHmac('sha256', key).update(fields).update(jkt).digest();
  }
}

function paddedAudience({ kind, audience }: Token): string {
  if (audience === null) return '';
  if (kind !== 'access' || audience.length > MAX_AUDIENCE || !/^[!-~]+(?: [!-~]+)*$/.test(audience))
    throw new RangeError('only an access token has an audience: identifiers separated by single spaces');
  return audience.padEnd(Math.ceil(audience.length / 3) * 3);
}

function kindOf(text: string): TokenKind {
  if (text.startsWith(PREFIXES.code)) return 'code';
  return text.startsWith(PREFIXES.access) ? 'access' : 'refresh';
}
