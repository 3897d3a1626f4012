import { createHash, hkdfSync } from 'node:crypto';

/** The bytes are part of the token format and must never be reused. */
export const TOKEN_KINDS = { code: 1, access: 2, refresh: 3, device: 4 } as const;
export type TokenKind = keyof typeof TOKEN_KINDS;

/** Separate domains of MACs for bearer tokens and for tokens that are bound to a DPoP key (RFC 9449). */
export type MacDomain = TokenKind | `${TokenKind}:dpop`;

/** Labels of the other keys that are derived from a key of the ring (HKDF, RFC 5869). */
const PURPOSES = {
  /** DPoP nonces (RFC 9449 8). */
  nonce: 'dpop nonce',
  device: 'login device',
  /** Names of counters. Earlier keys are not needed, because counters live for at most an hour. */
  throttle: 'login throttle',
  challenge: 'login challenge',
  /** User codes (RFC 8628). */
  userCode: 'device user code',
  /** Encrypts the headers of event receivers. */
  receiver: 'event receiver',
  /** Tokens of invitations, derived when they are mailed. */
  invitation: 'client invitation',
} as const;

type KeyPurpose = keyof typeof PURPOSES;

interface RingKey {
  readonly id: number;
  readonly subkeys: ReadonlyMap<MacDomain, Buffer>;
  readonly derived: Readonly<Record<KeyPurpose, Buffer>>;
}

const KEY_BYTES = 32;

/**
 * The first key signs, and every key verifies. To replace a key, append the new key, deploy, and then move the new key
 * to the front. Ids are derived from the keys, so that configuration cannot mix up ids. Each kind of token has
 * separate subkeys (HKDF, RFC 5869) for bearer and bound tokens, so that a code never passes for a refresh token.
 */
export class KeyRing {
  readonly signingKeyId: number;
  /** Keys of token MACs, by key id. */
  readonly subkeys: ReadonlyMap<number, ReadonlyMap<MacDomain, Buffer>>;
  private readonly signing: RingKey;
  private readonly byId: ReadonlyMap<number, RingKey>;

  /** @throws RangeError for an empty ring, a key that is not 32 bytes, or two keys with the same id */
  constructor(keys: readonly Buffer[]) {
    const ring = keys.map(deriveKey);
    const [signing] = ring;
    if (!signing) throw new RangeError('the key ring needs at least one key');
    this.signing = signing;
    this.signingKeyId = signing.id;
    this.byId = new Map(ring.map((key) => [key.id, key]));
    if (this.byId.size !== ring.length) throw new RangeError('the key ring holds the same key twice');
    this.subkeys = new Map(ring.map(({ id, subkeys }) => [id, subkeys]));
  }

  /** Parses comma-separated base64url keys, the signing key first. @throws RangeError */
  static parse(text: string): KeyRing {
    return new KeyRing(text.split(',').map((part) => Buffer.from(part.trim(), 'base64url')));
  }

  /** Ids and roles of the keys, signing key first. An id is a hash, which does not reveal the key. */
  get keys(): readonly { readonly id: string; readonly role: 'signing' | 'verifying' }[] {
    return [...this.byId.keys()].map((id) => ({
      id: id.toString(16).padStart(8, '0'),
      role: id === this.signing.id ? 'signing' : 'verifying',
    }));
  }

  /** Keys of one purpose, signing key first. What they sign has no key id, so the verifier tries each key. */
  keysFor(purpose: KeyPurpose): readonly Buffer[] {
    return [...this.byId.values()].map(({ derived }) => derived[purpose]);
  }

  signingKeyFor(purpose: KeyPurpose): Buffer {
    return this.signing.derived[purpose];
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
  const domains = kinds.flatMap((kind): MacDomain[] => [kind, `${kind}:dpop`]);
  const subkeys = new Map(domains.map((domain) => [domain, derive(`token:${domain}`)]));
  const purposes = Object.entries(PURPOSES).map(([purpose, label]) => [purpose, derive(label)]);
  return { id, subkeys, derived: Object.fromEntries(purposes) as RingKey['derived'] };
}
