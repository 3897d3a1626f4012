import { createPublicKey } from 'node:crypto';
import { fits, InvalidKeyError, type PublicKey, readPublicJwk, type SignatureAlgorithm } from '../jwk.js';

/** Algorithms of client assertions, in the order of the metadata. */
export const ASSERTION_ALGORITHMS = ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'] as const;

export type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number];

/** A public key of a client (RFC 7517 4), with its known members only. */
export type ClientJwk = PublicKey & { readonly kid?: string; readonly alg?: SignatureAlgorithm };

export interface ClientJwkSet {
  readonly keys: readonly ClientJwk[];
}

/** A rotation needs two keys. More keys allow for several teams or machines of one application. */
export const MAX_CLIENT_KEYS = 10;
/** A set at a `jwks_uri` may serve a whole company. */
const MAX_FETCHED_KEYS = 100;
export const MAX_KID = 256;

/** In characters. */
export const MAX_JWKS = 65_536;

/** @throws InvalidKeyError */
export function readRegisteredKeys(text: string): ClientJwkSet {
  if (text === '') throw new InvalidKeyError('unreadable');
  if (text.length > MAX_JWKS) throw new InvalidKeyError('too_long');
  const keys = keysOf(text);
  if (keys.length === 0) throw new InvalidKeyError('empty');
  if (keys.length > MAX_CLIENT_KEYS) throw new InvalidKeyError('too_many');
  const read = keys.map((key, index) => {
    try {
      return importable(readClientJwk(key));
    } catch (error) {
      if (error instanceof InvalidKeyError)
        throw new InvalidKeyError(error.problem.id, { ...error.problem, key: index + 1 });
      throw error;
    }
  });
  const kids = read.flatMap(({ kid }) => kid ?? []);
  if (new Set(kids).size < kids.length) throw new InvalidKeyError('kid_repeated');
  return { keys: read };
}

/**
 * Ignores keys that cannot verify (RFC 7517 5), and private keys, which are compromised once they are published.
 * @throws InvalidKeyError
 */
export function readFetchedKeys(text: string): ClientJwkSet {
  const keys = keysOf(text)
    .slice(0, MAX_FETCHED_KEYS)
    .flatMap((key) => {
      try {
        return readClientJwk(key);
      } catch (error) {
        if (error instanceof InvalidKeyError) return [];
        throw error;
      }
    });
  return { keys };
}

/** Returns at most `MAX_CLIENT_KEYS` possible signing keys (RFC 7515 4.1.4), because each costs a verification. */
export function candidateKeys(
  { keys }: ClientJwkSet,
  { alg, kid }: { readonly alg: AssertionAlgorithm; readonly kid: string | null },
): readonly ClientJwk[] {
  return keys
    .filter((key) => fits(key, alg) && (key.alg ?? alg) === alg && (kid === null || key.kid === kid))
    .slice(0, MAX_CLIENT_KEYS);
}

export function isAssertionAlgorithm(alg: unknown): alg is AssertionAlgorithm {
  return ASSERTION_ALGORITHMS.some((supported) => supported === alg);
}

function keysOf(text: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new InvalidKeyError('not_json');
  }
  const keys = typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : null;
  if (!Array.isArray(keys)) throw new InvalidKeyError('not_a_set');
  return keys as unknown[];
}

function readClientJwk(jwk: unknown): ClientJwk {
  if (typeof jwk !== 'object' || jwk === null) throw new InvalidKeyError('not_an_object');
  const { kty, kid, alg, use, key_ops: operations } = jwk as Readonly<Record<string, unknown>>;
  if (kty === 'oct') throw new InvalidKeyError('symmetric');
  if (use !== undefined && use !== 'sig') throw new InvalidKeyError('use');
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify')))
    throw new InvalidKeyError('key_ops');
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > MAX_KID))
    throw new InvalidKeyError('kid');
  if (alg !== undefined && !isAssertionAlgorithm(alg)) throw new InvalidKeyError('alg');
  return {
    ...readPublicJwk(jwk, alg ?? algorithmOf(jwk)),
    ...(kid !== undefined && { kid }),
    ...(alg !== undefined && { alg }),
  };
}

/** Returns an algorithm of the key's type, for a key without `alg`. */
function algorithmOf(jwk: object): SignatureAlgorithm {
  const { kty, crv } = jwk as { readonly kty?: unknown; readonly crv?: unknown };
  if (kty === 'RSA') return 'PS256';
  if (kty === 'EC' && crv === 'P-256') return 'ES256';
  if (kty === 'OKP' && crv === 'Ed25519') return 'EdDSA';
  throw new InvalidKeyError('type');
}

/** Rejects a key that cannot be imported, such as a point that is not on its curve. */
function importable(key: ClientJwk): ClientJwk {
  try {
    createPublicKey({ key: { ...key }, format: 'jwk' });
    return key;
  } catch {
    throw new InvalidKeyError('not_importable');
  }
}
