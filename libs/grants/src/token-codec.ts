import { createHmac, timingSafeEqual } from 'node:crypto';
import { type MacDomain, TOKEN_KINDS, type KeyRing, type TokenKind } from './key-ring.js';

/** What an authentic token says. It was written by this service; who presents it may have stolen it. */
export interface AuthenticToken {
  readonly kind: TokenKind;
  /** 128 random bits that name the grant; known only to who holds one of its tokens. */
  readonly handle: Buffer;
  /** 0 for a code, then counted up by every refresh. */
  readonly generation: number;
  /** Seconds since the epoch. */
  readonly expiry: number;
  /** Whether only the holder of a key may use it (RFC 9449). */
  readonly bound: boolean;
  /** Whether its scope is narrower than its grant's (RFC 6749 6); Redis knows how narrow. */
  readonly narrowed: boolean;
}

/** A token, and the key that it is bound to: there is no bound token without one. */
export interface Token extends Omit<AuthenticToken, 'bound'> {
  /** Thumbprint (RFC 7638) of the key that alone may use it; null for a bearer token. */
  readonly jkt: string | null;
}

const PREFIXES: Readonly<Record<TokenKind, string>> = { code: 'sac_', access: 'sat_', refresh: 'srt_' };

const VERSION = 2;
export const HANDLE_BYTES = 16;
const BINDING_BYTES = 18;
// What a token says: version 1 ‖ key id 4 ‖ handle 16 ‖ kind 1 ‖ generation 4 ‖ expiry 5. Then a MAC of 32 bytes, and
// of a bound token one of 18 bytes that takes its key in. 63 and 81 are multiples of three, so that base64url has no
// spare bits: each token has exactly one spelling.
const AT = {
  version: 0,
  keyId: 1,
  handle: 5,
  kind: 21,
  generation: 22,
  expiry: 26,
  mac: 31,
  binding: 63,
} as const;
// The kind's byte carries two flags.
const FLAGS = { bound: 0x80, narrowed: 0x40 } as const;
// A code is never bound: who redeems it proves a key by then.
const TOKEN_TEXT = /^(?:s(?:ac|at|rt)_[A-Za-z0-9_-]{84}|s(?:at|rt)_[A-Za-z0-9_-]{108})$/;

/** Writes and reads `<prefix>_<base64url>` tokens (docs/adr/0002). Pure: it does no I/O and keeps no state. */
export class TokenCodec {
  constructor(private readonly keys: KeyRing) {}

  /**
   * The same token always has the same text: a retry is answered by computing it again.
   * @throws RangeError for a token that is bound to an empty thumbprint, and for a bound code
   */
  encode(token: Token): string {
    const { kind, jkt } = token;
    if (jkt === '') throw new RangeError('a bound token needs the thumbprint of its key, this one is empty');
    if (jkt !== null && kind === 'code') throw new RangeError('a code cannot be bound to a key');
    const bytes = Buffer.alloc(jkt === null ? AT.binding : AT.binding + BINDING_BYTES);
    bytes.writeUInt8(VERSION, AT.version);
    bytes.writeUInt32BE(this.keys.signingKeyId, AT.keyId);
    token.handle.copy(bytes, AT.handle, 0, HANDLE_BYTES);
    const flags = (jkt === null ? 0 : FLAGS.bound) | (token.narrowed ? FLAGS.narrowed : 0);
    bytes.writeUInt8(TOKEN_KINDS[kind] | flags, AT.kind);
    bytes.writeUInt32BE(token.generation, AT.generation);
    bytes.writeUIntBE(token.expiry, AT.expiry, AT.mac - AT.expiry);
    this.#mac(bytes, jkt === null ? kind : `${kind}:bound`)?.copy(bytes, AT.mac);
    if (jkt !== null) this.#mac(bytes, `${kind}:binding`, jkt)?.copy(bytes, AT.binding, 0, BINDING_BYTES);
    return PREFIXES[kind] + bytes.toString('base64url');
  }

  /**
   * Null unless this service wrote the text: malformed, forged and unknown-key tokens are one answer, given
   * without I/O. So is a bound token without its key. Expiry is the caller's to judge, because it knows what an
   * expired token still tells.
   * @param jkt thumbprint of the key that whoever presents the token has proved; null when none was proved
   */
  decode(text: string, jkt: string | null = null): Token | null {
    const read = this.#authentic(text);
    if (!read) return null;
    const { bound, ...token } = read.token;
    if (!bound) return { ...token, jkt: null };
    if (typeof jkt !== 'string' || jkt === '') return null;
    const binding = this.#mac(read.bytes, `${token.kind}:binding`, jkt)?.subarray(0, BINDING_BYTES);
    return binding && timingSafeEqual(binding, read.bytes.subarray(AT.binding)) ? { ...token, jkt } : null;
  }

  /** As decode, but says nothing of the key that a bound token is bound to: who presents it may have stolen it. */
  decodeUnproved(text: string): AuthenticToken | null {
    return this.#authentic(text)?.token ?? null;
  }

  #authentic(text: string): { readonly token: AuthenticToken; readonly bytes: Buffer } | null {
    if (typeof text !== 'string' || !TOKEN_TEXT.test(text)) return null;
    const kind = kindOf(text);
    const bytes = Buffer.from(text.slice(PREFIXES[kind].length), 'base64url');
    const kindByte = bytes.readUInt8(AT.kind);
    const bound = (kindByte & FLAGS.bound) !== 0;
    if (bytes[AT.version] !== VERSION || (kindByte & ~(FLAGS.bound | FLAGS.narrowed)) !== TOKEN_KINDS[kind])
      return null;
    if (bound !== bytes.length > AT.binding) return null;
    const mac = this.#mac(bytes, bound ? `${kind}:bound` : kind);
    if (!mac || !timingSafeEqual(mac, bytes.subarray(AT.mac, AT.binding))) return null;
    const token = {
      kind,
      handle: bytes.subarray(AT.handle, AT.kind),
      generation: bytes.readUInt32BE(AT.generation),
      expiry: bytes.readUIntBE(AT.expiry, AT.mac - AT.expiry),
      bound,
      narrowed: (kindByte & FLAGS.narrowed) !== 0,
    };
    return { token, bytes };
  }

  /**
   * HMAC-SHA-256 of what the token says, and of its key's thumbprint where one is given. Each of the three uses has a
   * subkey of its own: the authenticity of a bearer token, that of a bound one, and the binding. No MAC that a token
   * shows is one of another use, however its bytes are moved.
   */
  #mac(bytes: Buffer, domain: MacDomain, jkt = ''): Buffer | undefined {
    const key = this.keys.subkey(bytes.readUInt32BE(AT.keyId), domain);
    return key && createHmac('sha256', key).update(bytes.subarray(0, AT.mac)).update(jkt).digest();
  }
}

function kindOf(text: string): TokenKind {
  if (text.startsWith(PREFIXES.code)) return 'code';
  return text.startsWith(PREFIXES.access) ? 'access' : 'refresh';
}
