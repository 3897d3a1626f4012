import { InvalidProofError } from './invalid-proof.error.js';

interface KeyShape {
  readonly kty: string;
  readonly crv?: string;
}

/** RFC 7518 3.1, RFC 8037, RFC 9864. */
const KEY_SHAPES = {
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  PS256: { kty: 'RSA' },
  RS256: { kty: 'RSA' },
} as const satisfies Record<string, KeyShape>;

export type DpopAlgorithm = keyof typeof KEY_SHAPES;

/** Published in the metadata as `dpop_signing_alg_values_supported`. */
export const DPOP_ALGORITHMS = Object.keys(KEY_SHAPES) as readonly DpopAlgorithm[];

export function isDpopAlgorithm(alg: unknown): alg is DpopAlgorithm {
  return typeof alg === 'string' && Object.hasOwn(KEY_SHAPES, alg);
}

/** Members of a public JWK that determine its thumbprint (RFC 7638 3.2, RFC 8037 2). */
export type PublicKey =
  | { readonly kty: string; readonly crv: string; readonly x: string; readonly y?: string }
  | { readonly kty: string; readonly n: string; readonly e: string };

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const BASE64URL = /^[\w-]+$/;
/** Coordinates of the largest curve have 48 bytes. */
const MAX_COORDINATE = 64;
/** 2048 to 4096 bits: a smaller modulus is weak (RFC 7518 3.3), and a larger one costs the server more than the sender. */
const MODULUS = { min: 342, max: 683 };
/** 65537, which every library uses; a large exponent costs as much as a large modulus. */
const EXPONENT = 'AQAB';

/** Reads the `jwk` of a proof, for its `alg`. @throws InvalidProofError */
export function readPublicKey(jwk: unknown, alg: DpopAlgorithm): PublicKey {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk))
    throw new InvalidProofError('dpop_jwk_invalid', 'its header must have the public key as jwk');
  // RFC 9449 4.3, 7: "The jwk JOSE Header Parameter does not contain a private key."
  if (PRIVATE_MEMBERS.some((member) => member in jwk))
    throw new InvalidProofError(
      'dpop_jwk_invalid',
      'its jwk contains a private key: send the public key only, and replace this one',
    );
  const members = jwk as Readonly<Record<string, unknown>>;
  const { kty, crv } = KEY_SHAPES[alg] as KeyShape;
  if (members['kty'] !== kty || (crv !== undefined && members['crv'] !== crv))
    throw new InvalidProofError('dpop_jwk_invalid', `its jwk is not a key for ${alg}`);
  if (crv === undefined) return rsaKey(members, kty);
  const [x, y] = [members['x'], members['y']];
  if (!isCoordinate(x))
    throw new InvalidProofError('dpop_jwk_invalid', 'the x of its jwk is not a coordinate');
  if (kty === 'OKP') return { kty, crv, x };
  if (!isCoordinate(y))
    throw new InvalidProofError('dpop_jwk_invalid', 'the y of its jwk is not a coordinate');
  return { kty, crv, x, y };
}

function rsaKey({ n, e }: Readonly<Record<string, unknown>>, kty: string): PublicKey {
  if (typeof n !== 'string' || !BASE64URL.test(n) || n.length < MODULUS.min || n.length > MODULUS.max)
    throw new InvalidProofError('dpop_jwk_invalid', 'an RSA key must have 2048 to 4096 bits');
  if (e !== EXPONENT)
    throw new InvalidProofError('dpop_jwk_invalid', 'the exponent of an RSA key must be 65537');
  return { kty, n, e };
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_COORDINATE && BASE64URL.test(value);
}
