import { createHmac, timingSafeEqual } from 'node:crypto';
import { TOKEN_KINDS, type KeyRing, type TokenKind } from './key-ring.js';

/** What a token says, once its MAC has proved that this service wrote it. */
export interface Token {
  readonly kind: TokenKind;
  /** 128 random bits that name the grant; known only to who holds one of its tokens. */
  readonly handle: Buffer;
  /** 0 for a code, then counted up by every refresh. */
  readonly generation: number;
  /** Seconds since the epoch. */
  readonly expiry: number;
  /** Whether only the holder of a key may use it (RFC 9449); that key's thumbprint is part of what the MAC covers. */
  readonly bound: boolean;
  /** Whether its scope is narrower than its grant's (RFC 6749 6); Redis knows how narrow. */
  readonly narrowed: boolean;
}

const PREFIXES: Readonly<Record<TokenKind, string>> = { code: 'sac_', access: 'sat_', refresh: 'srt_' };

const VERSION = 1;
export const HANDLE_BYTES = 16;
const MAC_BYTES = 32;
/** How much of a bound token's MAC proves that it is ours; the rest proves whose it is. */
const AUTHENTIC_BYTES = 16;
// version 1 ‖ key id 4 ‖ handle 16 ‖ kind 1 ‖ generation 4 ‖ expiry 5 ‖ mac 32. A multiple of three bytes,
// so that base64url has no spare bits: each token has exactly one spelling.
const AT = { version: 0, keyId: 1, handle: 5, kind: 21, generation: 22, expiry: 26, mac: 31 } as const;
// The kind's byte carries two flags.
const FLAGS = { bound: 0x80, narrowed: 0x40 } as const;
const TOKEN_BYTES = AT.mac + MAC_BYTES;
const TOKEN_TEXT = /^(sac|sat|srt)_[A-Za-z0-9_-]{84}$/;

/** Writes and reads `<prefix>_<base64url>` tokens (DESIGN 3). Pure: it does no I/O and keeps no state. */
export class TokenCodec {
  constructor(private readonly keys: KeyRing) {}

  /**
   * The same token always has the same text: a retry is answered by computing it again.
   * @param jkt thumbprint of the key that a bound token is bound to (RFC 7638)
   */
  encode(token: Token, jkt = ''): string {
    const bytes = Buffer.alloc(TOKEN_BYTES);
    bytes.writeUInt8(VERSION, AT.version);
    bytes.writeUInt32BE(this.keys.signingKeyId, AT.keyId);
    token.handle.copy(bytes, AT.handle, 0, HANDLE_BYTES);
    const flags = (token.bound ? FLAGS.bound : 0) | (token.narrowed ? FLAGS.narrowed : 0);
    bytes.writeUInt8(TOKEN_KINDS[token.kind] | flags, AT.kind);
    bytes.writeUInt32BE(token.generation, AT.generation);
    bytes.writeUIntBE(token.expiry, AT.expiry, AT.mac - AT.expiry);
    this.#mac(bytes, token, jkt)?.copy(bytes, AT.mac);
    return PREFIXES[token.kind] + bytes.toString('base64url');
  }

  /**
   * Null unless this service wrote the text: malformed, forged and unknown-key tokens are one answer, given
   * without I/O. So is a bound token without its key. Expiry is the caller's to judge, because it knows what an
   * expired token still tells.
   * @param jkt thumbprint of the key that whoever presents the token has proved
   */
  decode(text: string, jkt = ''): Token | null {
    return this.#verify(text, jkt, MAC_BYTES);
  }

  /** As decode, but says nothing of the key that a bound token is bound to: who presents it may have stolen it. */
  decodeUnproved(text: string): Token | null {
    return this.#verify(text, '', AUTHENTIC_BYTES);
  }

  /** Compares as much of the MAC, and of a bearer token all of it. */
  #verify(text: string, jkt: string, length: number): Token | null {
    if (typeof text !== 'string' || !TOKEN_TEXT.test(text)) return null;
    const kind = kindOf(text);
    const bytes = Buffer.from(text.slice(PREFIXES[kind].length), 'base64url');
    const kindByte = bytes.readUInt8(AT.kind);
    if (bytes[AT.version] !== VERSION || (kindByte & ~(FLAGS.bound | FLAGS.narrowed)) !== TOKEN_KINDS[kind])
      return null;
    const token = {
      kind,
      handle: bytes.subarray(AT.handle, AT.kind),
      generation: bytes.readUInt32BE(AT.generation),
      expiry: bytes.readUIntBE(AT.expiry, AT.mac - AT.expiry),
      bound: (kindByte & FLAGS.bound) !== 0,
      narrowed: (kindByte & FLAGS.narrowed) !== 0,
    };
    const compared = token.bound ? length : MAC_BYTES;
    const presented = bytes.subarray(AT.mac, AT.mac + compared);
    const mac = this.#mac(bytes, token, jkt)?.subarray(0, compared);
    return mac && timingSafeEqual(mac, presented) ? token : null;
  }

  /**
   * HMAC-SHA-256 of what the token says. Of a bound token its first half, and then half of another one over the key's
   * thumbprint as well: 128 bits prove that the token is ours, 128 bits that it is bound to this key.
   */
  #mac(bytes: Buffer, { kind, bound }: Token, jkt: string): Buffer | undefined {
    const key = this.keys.subkey(bytes.readUInt32BE(AT.keyId), kind);
    if (!key) return undefined;
    const said = bytes.subarray(0, AT.mac);
    const mac = createHmac('sha256', key).update(said).digest();
    if (!bound) return mac;
    const binding = createHmac('sha256', key).update(said).update(jkt).digest();
    return Buffer.concat([
      mac.subarray(0, AUTHENTIC_BYTES),
      binding.subarray(0, MAC_BYTES - AUTHENTIC_BYTES),
    ]);
  }
}

function kindOf(text: string): TokenKind {
  if (text.startsWith(PREFIXES.code)) return 'code';
  return text.startsWith(PREFIXES.access) ? 'access' : 'refresh';
}
