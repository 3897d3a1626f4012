import { hash } from 'node:crypto';

interface KeyShape {
  readonly kty: string;
  readonly crv?: string;
}

/** Key type and curve of each algorithm (RFC 7518 3.1, RFC 8037, RFC 9864). */
const KEY_SHAPES = {
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  PS256: { kty: 'RSA' },
  RS256: { kty: 'RSA' },
} as const satisfies Record<string, KeyShape>;

/** Asymmetric signature algorithms, never `none` or an HMAC. */
export type SignatureAlgorithm = keyof typeof KEY_SHAPES;

/** Algorithms of section 5.4.1 of FAPI 2.0. RFC 9864 gives `EdDSA` with the curve Ed25519 the name `Ed25519`. */
export const FAPI_ALGORITHMS = ['ES256', 'PS256', 'EdDSA', 'Ed25519'] as const;

export function isFapiAlgorithm(alg: string): boolean {
  return FAPI_ALGORITHMS.some((permitted) => permitted === alg);
}

/** Members of a public JWK that determine its thumbprint (RFC 7638 3.2, RFC 8037 2). */
export type PublicKey =
  | { readonly kty: string; readonly crv: string; readonly x: string; readonly y?: string }
  | { readonly kty: string; readonly n: string; readonly e: string };

/** Reason why a key, or a set of keys, is refused. The error guide has the texts. */
export interface KeyProblem {
  readonly id:
    | 'unreadable'
    | 'too_long'
    | 'too_deep'
    | 'not_json'
    | 'not_a_set'
    | 'empty'
    | 'too_many'
    | 'kid_repeated'
    | 'not_an_object'
    | 'private'
    | 'symmetric'
    | 'use'
    | 'key_ops'
    | 'kid'
    | 'alg'
    | 'type'
    | 'other_type'
    | 'x'
    | 'y'
    | 'modulus'
    | 'exponent'
    | 'not_importable';
  /** Algorithm whose key type the key does not have. */
  readonly alg?: SignatureAlgorithm;
  /** Number of the key in the set, from 1. */
  readonly key?: number;
}

export class InvalidKeyError extends Error {
  readonly problem: KeyProblem;

  constructor(id: KeyProblem['id'], details?: Omit<KeyProblem, 'id'>) {
    super(id);
    this.name = 'InvalidKeyError';
    this.problem = { id, ...details };
  }
}

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const BASE64URL = /^[\w-]+$/;
/** In characters. Coordinates of the largest curve have 48 bytes. */
const MAX_COORDINATE = 64;
/** Base64url length of 2048 to 4096 bits. Fewer bits are weak (RFC 7518 3.3); more bits cost the server too much. */
const MODULUS = { min: 342, max: 683 };
/** The exponent 65537, which every library uses. Verification with a large exponent is expensive. */
const EXPONENT = 'AQAB';

export function isPrivateJwk(jwk: unknown): boolean {
  return typeof jwk === 'object' && jwk !== null && PRIVATE_MEMBERS.some((member) => member in jwk);
}

/** Reads the members of a public key for an algorithm, and ignores all others. @throws InvalidKeyError */
export function readPublicJwk(jwk: unknown, alg: SignatureAlgorithm): PublicKey {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk))
    throw new InvalidKeyError('not_an_object');
  if (isPrivateJwk(jwk)) throw new InvalidKeyError('private');
  const members = jwk as Readonly<Record<string, unknown>>;
  const { kty, crv } = KEY_SHAPES[alg] as KeyShape;
  if (members['kty'] !== kty || (crv !== undefined && members['crv'] !== crv))
    throw new InvalidKeyError('other_type', { alg });
  if (crv === undefined) return rsaKey(members, kty);
  const [x, y] = [members['x'], members['y']];
  if (!isCoordinate(x)) throw new InvalidKeyError('x');
  if (kty === 'OKP') return { kty, crv, x };
  if (!isCoordinate(y)) throw new InvalidKeyError('y');
  return { kty, crv, x, y };
}

export function fits(key: PublicKey, alg: SignatureAlgorithm): boolean {
  const { kty, crv } = KEY_SHAPES[alg] as KeyShape;
  return key.kty === kty && (crv === undefined || ('crv' in key && key.crv === crv));
}

/** Returns the thumbprint with SHA-256 (RFC 7638), which identifies a key in output and in the audit trail. */
export function thumbprintOf(key: PublicKey): string {
  const members =
    'n' in key
      ? { e: key.e, kty: key.kty, n: key.n }
      : { crv: key.crv, kty: key.kty, x: key.x, ...(key.y !== undefined && { y: key.y }) };
  return hash('sha256', JSON.stringify(members), 'base64url');
}

function rsaKey({ n, e }: Readonly<Record<string, unknown>>, kty: string): PublicKey {
  if (typeof n !== 'string' || !BASE64URL.test(n) || n.length < MODULUS.min || n.length > MODULUS.max)
    throw new InvalidKeyError('modulus');
  if (e !== EXPONENT) throw new InvalidKeyError('exponent');
  return { kty, n, e };
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_COORDINATE && BASE64URL.test(value);
}

/** Section 5.3.2.1 of FAPI 2.0: a JWT 10 seconds in the future must be accepted, and more than 60 seconds rejected. */
export const fapiClockSkew = (configured: number): number => Math.min(Math.max(configured, 10), 60);
