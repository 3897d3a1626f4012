import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto';
import { promisify } from 'node:util';
import { compactVerify, decodeProtectedHeader, type JWK } from 'jose';
import { type PublicKey, thumbprintOf } from '../jwk.js';

/** Key of ID tokens and logout tokens (RFC 7517). */
interface SigningKey {
  /** Thumbprint (RFC 7638), so that configuration cannot mix up ids. */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly publicKey: KeyObject;
  /** Null for a public key, which only verifies. */
  readonly privateKey: KeyObject | null;
}

type IdTokenClaims = Readonly<Record<string, unknown>>;

type WrongPart = 'format' | 'typ' | 'kid' | 'signature' | 'iss' | 'aud';

/** RFC 7518 3.1, RFC 8037 3.1. The key determines the algorithm, so that no token can choose it (RFC 8725 3.1). */
export const SIGNING_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Section 2 of OpenID Connect Dynamic Client Registration: "The default, if omitted, is RS256." */
export const DEFAULT_SIGNING_ALGORITHM = 'RS256';

const MIN_RSA_BITS = 2048;
const MAX_KEYS = 20;
/** In characters. An ID token of this service has about 1,000. */
const MAX_TOKEN = 8_192;
const signInBackground = promisify(sign);

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END [A-Z0-9 ]+-----/g;

/**
 * The first key of each algorithm signs; every key verifies. Operators append a new key, so that relying parties fetch
 * the key before it signs.
 */
export class SigningKeys {
  private readonly byId: ReadonlyMap<string, SigningKey>;
  private readonly firstOf: ReadonlyMap<SigningAlgorithm, SigningKey>;

  private constructor(keys: readonly SigningKey[]) {
    this.byId = new Map(keys.map((key) => [key.kid, key]));
    if (this.byId.size !== keys.length) throw new Error('it contains a key twice');
    this.firstOf = new Map(keys.toReversed().map((key) => [key.alg, key]));
  }

  /**
   * Accepts PEM blocks (PKCS#8, or SPKI for public keys), a JWK, or a JWK Set. PEM line ends may be written as `\n`,
   * because many environment files do not support multi-line values.
   * @throws Error that does not repeat the text, which is a secret
   */
  static parse(this: void, text: string): SigningKeys {
    if (text.trim() === '') return new SigningKeys([]);
    const keys = /^\s*\{/.test(text) ? readJwks(text) : readPem(text.replaceAll('\\n', '\n'));
    if (keys.length > MAX_KEYS) throw new Error(`it contains more than ${MAX_KEYS} keys`);
    const parsed = new SigningKeys(keys.map(signingKey));
    // OpenID Connect Discovery 3: "The algorithm RS256 MUST be included."
    if (!parsed.algorithms.includes(DEFAULT_SIGNING_ALGORITHM))
      throw new Error('it contains no RSA key, which every OpenID provider needs (RS256)');
    return parsed;
  }

  get isEmpty(): boolean {
    return this.byId.size === 0;
  }

  get ids(): readonly { readonly id: string; readonly alg: SigningAlgorithm }[] {
    return [...this.byId.values()].map(({ kid: id, alg }) => ({ id, alg }));
  }

  get roles(): readonly { id: string; alg: SigningAlgorithm; role: 'signing' | 'verifying' }[] {
    return [...this.byId.values()].map((key) => {
      const signs = key.privateKey !== null && this.firstOf.get(key.alg) === key;
      return { id: key.kid, alg: key.alg, role: signs ? 'signing' : 'verifying' };
    });
  }

  get algorithms(): readonly SigningAlgorithm[] {
    return SIGNING_ALGORITHMS.filter((alg) => this.firstOf.has(alg));
  }

  /** False without keys, and if a key is public and can only verify. */
  get canSign(): boolean {
    return !this.isEmpty && [...this.byId.values()].every(({ privateKey }) => privateKey !== null);
  }

  /** JWK Set of the public keys (RFC 7517 5). */
  get jwks(): { readonly keys: readonly JWK[] } {
    const keys = [...this.byId.values()].map(({ kid, alg, publicKey }) => ({
      ...(publicKey.export({ format: 'jwk' }) as JWK),
      kid,
      alg,
      use: 'sig',
    }));
    return { keys };
  }

  /** JWK Set of the private keys, a secret. @throws Error if the private part of a key is missing */
  get privateJwks(): { readonly keys: readonly JWK[] } {
    const keys = [...this.byId.values()].map(({ kid, alg, privateKey }) => {
      if (privateKey === null) throw new Error(`key ${kid} has no private key`);
      return { ...(privateKey.export({ format: 'jwk' }) as JWK), kid, alg, use: 'sig' };
    });
    return { keys };
  }

  has(alg: SigningAlgorithm): boolean {
    return this.firstOf.has(alg);
  }

  /**
   * Signs RS256 on a thread of libuv's pool, because RS256 takes about a millisecond. For the other algorithms, the
   * switch to another thread costs more than the signature. jose signs through WebCrypto, which costs the main thread
   * twice as much (docs/adr/0026-id-token-keys.md).
   * @param type `typ` of the header
   * @returns JWS Compact Serialization (RFC 7515 7.1)
   * @throws Error without a private key of the algorithm
   */
  async sign(claims: object, alg: SigningAlgorithm, type = 'JWT'): Promise<string> {
    const key = this.firstOf.get(alg);
    if (!key?.privateKey) throw new Error(`there is no private key for ${alg}`);
    const signed = `${encode({ alg, kid: key.kid, typ: type })}.${encode(claims)}`;
    // RFC 7518 3.4: an ECDSA signature is r and s, concatenated. The option has no effect on other keys.
    const options = { key: key.privateKey, dsaEncoding: 'ieee-p1363' } as const;
    const data = Buffer.from(signed);
    const signature =
      alg === 'RS256'
        ? await signInBackground('sha256', data, options)
        : sign(alg === 'EdDSA' ? null : 'sha256', data, options);
    return `${signed}.${signature.toString('base64url')}`;
  }

  /**
   * Accepts expired tokens, because an `id_token_hint` has usually expired (section 2 of RP-Initiated Logout 1.0).
   * @returns the claims, or the part that is wrong
   */
  async verify(token: string, issuer: string, clientId?: string): Promise<IdTokenClaims | WrongPart> {
    let wrong: WrongPart = 'format';
    if (token.length > MAX_TOKEN) return wrong;
    try {
      const { kid, typ } = decodeProtectedHeader(token);
      // A logout token is not a hint (section 2.4 of Back-Channel Logout 1.0).
      if (typ !== 'JWT') return 'typ';
      const key = this.byId.get(kid ?? '');
      if (!key) return 'kid';
      wrong = 'signature';
      const { payload } = await compactVerify(token, key.publicKey, { algorithms: [key.alg] });
      const claims = JSON.parse(new TextDecoder().decode(payload)) as IdTokenClaims;
      if (claims['iss'] !== issuer) return 'iss';
      return clientId === undefined || claims['aud'] === clientId ? claims : 'aud';
    } catch {
      return wrong;
    }
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function readPem(text: string): KeyObject[] {
  if (text.replaceAll(PEM_BLOCK, '').trim() !== '') throw new Error('it is neither PEM nor a JWK');
  return [...text.matchAll(PEM_BLOCK)].map(([block, label]) => {
    if (label !== 'PRIVATE KEY' && label !== 'PUBLIC KEY')
      throw new Error('a PEM block must be a PRIVATE KEY (PKCS#8), or a PUBLIC KEY (SPKI)');
    const isPrivate = label === 'PRIVATE KEY';
    return readable(() => (isPrivate ? createPrivateKey(block) : createPublicKey(block)));
  });
}

function readJwks(text: string): KeyObject[] {
  let parsed: JsonWebKey & { readonly keys?: unknown };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    throw new Error('it is not JSON');
  }
  const jwks = Array.isArray(parsed.keys) ? (parsed.keys as (JsonWebKey | null)[]) : [parsed];
  return jwks.map((jwk) => {
    const key = { key: jwk ?? {}, format: 'jwk' } as const;
    return readable(() => (jwk?.d === undefined ? createPublicKey(key) : createPrivateKey(key)));
  });
}

function readable(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    throw new Error('a key cannot be read');
  }
}

function signingKey(key: KeyObject): SigningKey {
  const isPrivate = key.type === 'private';
  const publicKey = isPrivate ? createPublicKey(key) : key;
  const alg = algorithmOf(publicKey);
  const kid = thumbprintOf(publicKey.export({ format: 'jwk' }) as PublicKey);
  return { kid, alg, publicKey, privateKey: isPrivate ? key : null };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  if (asymmetricKeyType !== 'rsa')
    throw new Error('a key is neither RSA (RS256), P-256 (ES256) nor Ed25519 (EdDSA)');
  // RFC 7518 3.3: "A key of size 2048 bits or larger MUST be used."
  if ((asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw new Error(`an RSA key has fewer than ${MIN_RSA_BITS} bits`);
  return 'RS256';
}

const generate = promisify(generateKeyPair);

/** Returns a new private key; an RSA key has 2048 bits (RFC 7518 3.3). */
export async function generateSigningKey(alg: SigningAlgorithm): Promise<KeyObject> {
  const pair = {
    RS256: () => generate('rsa', { modulusLength: 2048 }),
    ES256: () => generate('ec', { namedCurve: 'P-256' }),
    EdDSA: () => generate('ed25519'),
  }[alg];
  return (await pair()).privateKey;
}

/** Returns a new ID_TOKEN_KEYS for the token app: a JWK Set on one line, with a private key of each algorithm. */
export async function generateIdTokenKeys(): Promise<string> {
  const keys = await Promise.all(SIGNING_ALGORITHMS.map(generateSigningKey));
  const jwks = { keys: keys.map((key) => key.export({ format: 'jwk' })) };
  return JSON.stringify(SigningKeys.parse(JSON.stringify(jwks)).privateJwks);
}

/** Returns the value of ID_TOKEN_KEYS for the authorize app: the public keys, as a JWK Set on one line. */
export function publicIdTokenKeys(privateKeys: string): string {
  return JSON.stringify(SigningKeys.parse(privateKeys).jwks);
}
