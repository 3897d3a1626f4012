import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SigningKeys } from '#oauth/openid/signing-keys.js';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export const rsaKey = (bits = 2048): KeyPair => generateKeyPairSync('rsa', { modulusLength: bits });
export const p256Key = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const ed25519Key = (): KeyPair => generateKeyPairSync('ed25519');

export const pkcs8 = ({ privateKey }: KeyPair): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

/** One private key per algorithm. They are generated once, because generating RSA keys is slow. */
export const ID_TOKEN_KEYS = [rsaKey(), p256Key(), ed25519Key()].map(pkcs8).join('');

export const SIGNING_KEYS = SigningKeys.parse(ID_TOKEN_KEYS);

export const PUBLIC_ID_TOKEN_KEYS = JSON.stringify(SIGNING_KEYS.jwks);
