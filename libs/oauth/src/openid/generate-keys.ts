import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { SIGNING_ALGORITHMS, type SigningAlgorithm, SigningKeys } from './signing-keys.js';

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
