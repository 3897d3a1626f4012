import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWK, SignJWT } from 'jose';

export const AUTH_URL = 'http://localhost:3001';
export const PRODUCT_URL = 'https://product.example.com';

/** Overrides of a valid assertion; null removes a claim. */
export interface AssertionSettings {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

export class ProductKey {
  readonly pem: string;
  readonly jwk: JWK;
  readonly privateKey: KeyObject;

  constructor(private readonly alg: 'EdDSA' | 'Ed25519' | 'ES256' = 'EdDSA') {
    const { privateKey, publicKey } =
      alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
    this.privateKey = privateKey;
    this.pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    this.jwk = publicKey.export({ format: 'jwk' });
  }

  assertion(challenge: string, { header, claims }: AssertionSettings = {}): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const valid = { iss: PRODUCT_URL, aud: AUTH_URL, iat, sub: 'u1', challenge };
    const payload = Object.entries({ ...valid, ...claims }).filter(([, value]) => value !== null);
    return new SignJWT(Object.fromEntries(payload))
      .setProtectedHeader({ alg: this.alg, typ: 'login+jwt', ...header })
      .sign(this.privateKey);
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Keeps the claims, and replaces the header and the signature as an attacker could. */
export function forged(assertion: string, header: object, sign: (input: string) => string): string {
  const input = `${base64url({ typ: 'login+jwt', ...header })}.${assertion.split('.')[1]}`;
  return `${input}.${sign(input)}`;
}
