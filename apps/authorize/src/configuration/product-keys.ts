import { createPublicKey, type KeyObject } from 'node:crypto';
import { ParsedBy } from '#platform/configuration/variables.js';
import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from 'jose';

/** Finds the key of a JWT from the product. Throws a JWKS error of jose if no key or several keys match. */
export type ProductKeys = JWTVerifyGetKey;

export const PRODUCT_KEYS = Symbol('keys of the product');

/** The only accepted algorithms (RFC 8725 3.1). `Ed25519` is EdDSA with the curve Ed25519 (RFC 9864). */
export const PRODUCT_ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256'];

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

/** Reads PEM blocks (with real or escaped line ends), a JWK or a JWK Set. @throws Error that does not quote the keys */
export function readPublicKeys(text: string): JWK[] {
  const keys = text.trim().startsWith('{') ? readJwks(text) : readPem(text.replaceAll('\\n', '\n'));
  if (keys.length === 0) throw new Error('it contains no key');
  return keys.map(publicJwk);
}

export function IsPublicKeys(): PropertyDecorator {
  return ParsedBy(
    (text) => text === '' || readPublicKeys(text),
    'public keys, as PEM (SPKI), JWK or JWK Set',
  );
}

function readPem(text: string): KeyObject[] {
  if (text.replaceAll(PEM_BLOCK, '').trim() !== '') throw new Error('it is neither PEM nor a JWK');
  return [...text.matchAll(PEM_BLOCK)].map(([block, label]) => {
    if (label !== 'PUBLIC KEY') throw new Error('a PEM block must be a PUBLIC KEY (SPKI)');
    return keyObject({ key: block, format: 'pem' });
  });
}

function readJwks(text: string): KeyObject[] {
  let parsed: JWK & { readonly keys?: unknown };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    throw new Error('it is not JSON');
  }
  const jwks = Array.isArray(parsed.keys) ? (parsed.keys as (JWK | null)[]) : [parsed];
  return jwks.map((jwk) => {
    if (jwk?.d !== undefined || jwk?.k !== undefined)
      throw new Error('it contains a private key: give the public key only');
    return keyObject({ key: jwk ?? {}, format: 'jwk' });
  });
}

function keyObject(input: Parameters<typeof createPublicKey>[0]): KeyObject {
  try {
    return createPublicKey(input);
  } catch {
    throw new Error('a key cannot be read');
  }
}

/** Drops `kid` and `alg`, because a mismatch with a JWT of the product would exclude the key. */
function publicJwk(key: KeyObject): JWK {
  const isEd25519 = key.asymmetricKeyType === 'ed25519';
  if (!isEd25519 && key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('a key is neither Ed25519 (EdDSA) nor P-256 (ES256)');
  return key.export({ format: 'jwk' });
}

/** Keys of LOGIN_PUBLIC_KEY. Matches by algorithm, and ignores the `kid` of a JWT. */
export function configuredKeys(text: string): ProductKeys {
  const keys = createLocalJWKSet({ keys: readPublicKeys(text) });
  return ({ alg }, token) => keys({ alg }, token);
}
