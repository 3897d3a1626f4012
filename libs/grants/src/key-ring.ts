import { createHash, hkdfSync } from 'node:crypto';

/** What a token is for; the byte is part of the token format and must never be reused. */
export const TOKEN_KINDS = { code: 1, access: 2, refresh: 3 } as const;
export type TokenKind = keyof typeof TOKEN_KINDS;

/**
 * Domain separation for token MACs: the authenticity of a bearer token, the authenticity of a bound token, and the binding
 * to a key (RFC 9449). A MAC of one domain never verifies in another.
 */
export type MacDomain = TokenKind | `${TokenKind}:bound` | `${TokenKind}:binding`;

interface RingKey {
  readonly id: number;
  readonly subkeys: ReadonlyMap<MacDomain, Buffer>;
  readonly nonce: Buffer;
  readonly device: Buffer;
  readonly throttle: Buffer;
  readonly challenge: Buffer;
}

const KEY_BYTES = 32;

/**
 * The keys that authenticate tokens. The first one signs, all verify: a key is replaced in two deployments (add it last, then
 * move it to the front), and all tokens stay valid.
 *
 * A key's id is derived from the key (SHA-256, 32 bits), so that configuration cannot mix ids up. Each kind of token has its
 * own subkeys (HKDF, RFC 5869), separate for bearer and bound tokens: a code can never pass for a refresh token, nor a bound
 * token for a bearer token, whatever its bytes say.
 */
export class KeyRing {
  private readonly signing: RingKey;
  private readonly byId: ReadonlyMap<number, RingKey>;

  /** @throws RangeError when there is no key, a key is not 32 bytes, or two keys share an id. */
  constructor(keys: readonly Buffer[]) {
    const ring = keys.map(deriveKey);
    const [signing] = ring;
    if (!signing) throw new RangeError('the key ring needs at least one key');
    this.signing = signing;
    this.byId = new Map(ring.map((key) => [key.id, key]));
    if (this.byId.size !== ring.length) throw new RangeError('the key ring holds the same key twice');
  }

  /** Parses comma-separated base64url keys, the signing one first. @throws RangeError as the constructor. */
  static parse(text: string): KeyRing {
    return new KeyRing(text.split(',').map((part) => Buffer.from(part.trim(), 'base64url')));
  }

  get signingKeyId(): number {
    return this.signing.id;
  }

  /** The keys by their ids, the signing one first. An id is a hash: nobody can find the key from it. */
  get keys(): readonly { readonly id: string; readonly role: 'signing' | 'verifying' }[] {
    return [...this.byId.keys()].map((id) => ({
      id: id.toString(16).padStart(8, '0'),
      role: id === this.signing.id ? 'signing' : 'verifying',
    }));
  }

  /** The MAC key of a domain; undefined when the ring has no key with this id. */
  subkey(keyId: number, domain: MacDomain): Buffer | undefined {
    return this.byId.get(keyId)?.subkeys.get(domain);
  }

  /** The MAC keys of DPoP nonces (RFC 9449 8), the signing one first. A nonce has no key id; the verifier tries each. */
  get nonceKeys(): readonly Buffer[] {
    return [...this.byId.values()].map(({ nonce }) => nonce);
  }

  /** The MAC keys of device cookies, the signing one first. A cookie has no key id; the verifier tries each. */
  get deviceKeys(): readonly Buffer[] {
    return [...this.byId.values()].map(({ device }) => device);
  }

  /** Seeds of the Ed25519 keys that sign login challenges, the signing one first. */
  get challengeKeys(): readonly Buffer[] {
    return [...this.byId.values()].map(({ challenge }) => challenge);
  }

  /** The key of the hashes under which the login throttle counts. The counters live for an hour, so older keys are not needed. */
  get throttleKey(): Buffer {
    return this.signing.throttle;
  }
}

function deriveKey(key: Buffer): RingKey {
  if (key.length !== KEY_BYTES) {
    throw new RangeError(
      `a token key must be ${KEY_BYTES} random bytes in base64url, this one has ${key.length}`,
    );
  }
  const derive = (label: string) => Buffer.from(hkdfSync('sha256', key, '', label, KEY_BYTES));
  const id = createHash('sha256').update('token key id').update(key).digest().readUInt32BE();
  const kinds = Object.keys(TOKEN_KINDS) as TokenKind[];
  const domains = kinds.flatMap((kind): MacDomain[] => [kind, `${kind}:bound`, `${kind}:binding`]);
  const subkeys = new Map(domains.map((domain) => [domain, derive(`token:${domain}`)]));
  return {
    id,
    subkeys,
    nonce: derive('dpop nonce'),
    device: derive('login device'),
    throttle: derive('login throttle'),
    challenge: derive('login challenge'),
  };
}
