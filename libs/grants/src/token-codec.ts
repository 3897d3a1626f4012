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
}

const PREFIXES: Readonly<Record<TokenKind, string>> = { code: 'sac_', access: 'sat_', refresh: 'srt_' };

const VERSION = 1;
export const HANDLE_BYTES = 16;
const MAC_BYTES = 32;
// version 1 ‖ key id 4 ‖ handle 16 ‖ kind 1 ‖ generation 4 ‖ expiry 5 ‖ mac 32. A multiple of three bytes,
// so that base64url has no spare bits: each token has exactly one spelling.
const AT = { version: 0, keyId: 1, handle: 5, kind: 21, generation: 22, expiry: 26, mac: 31 } as const;
const TOKEN_BYTES = AT.mac + MAC_BYTES;
const TOKEN_TEXT = /^(sac|sat|srt)_[A-Za-z0-9_-]{84}$/;

/** Writes and reads `<prefix>_<base64url>` tokens (DESIGN 3). Pure: it does no I/O and keeps no state. */
export class TokenCodec {
  constructor(private readonly keys: KeyRing) {}

  /** The same token always has the same text: a retry is answered by computing it again. */
  encode(token: Token): string {
    const bytes = Buffer.alloc(TOKEN_BYTES);
    bytes.writeUInt8(VERSION, AT.version);
    bytes.writeUInt32BE(this.keys.signingKeyId, AT.keyId);
    token.handle.copy(bytes, AT.handle, 0, HANDLE_BYTES);
    bytes.writeUInt8(TOKEN_KINDS[token.kind], AT.kind);
    bytes.writeUInt32BE(token.generation, AT.generation);
    bytes.writeUIntBE(token.expiry, AT.expiry, AT.mac - AT.expiry);
    this.#mac(bytes, this.keys.signingKeyId, token.kind)?.copy(bytes, AT.mac);
    return PREFIXES[token.kind] + bytes.toString('base64url');
  }

  /**
   * Null unless this service wrote the text: malformed, forged and unknown-key tokens are one answer, given
   * without I/O. Expiry is the caller's to judge, because it knows what an expired token still tells.
   */
  decode(text: string): Token | null {
    if (typeof text !== 'string' || !TOKEN_TEXT.test(text)) return null;
    const kind = kindOf(text);
    const bytes = Buffer.from(text.slice(PREFIXES[kind].length), 'base64url');
    if (bytes[AT.version] !== VERSION || bytes[AT.kind] !== TOKEN_KINDS[kind]) return null;
    const mac = this.#mac(bytes, bytes.readUInt32BE(AT.keyId), kind);
    if (!mac || !timingSafeEqual(mac, bytes.subarray(AT.mac))) return null;
    return {
      kind,
      handle: bytes.subarray(AT.handle, AT.kind),
      generation: bytes.readUInt32BE(AT.generation),
      expiry: bytes.readUIntBE(AT.expiry, AT.mac - AT.expiry),
    };
  }

  #mac(bytes: Buffer, keyId: number, kind: TokenKind): Buffer | undefined {
    const key = this.keys.subkey(keyId, kind);
    return key && createHmac('sha256', key).update(bytes.subarray(0, AT.mac)).digest();
  }
}

function kindOf(text: string): TokenKind {
  if (text.startsWith(PREFIXES.code)) return 'code';
  return text.startsWith(PREFIXES.access) ? 'access' : 'refresh';
}
