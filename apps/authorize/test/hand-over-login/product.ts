import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWK, SignJWT } from 'jose';

/** Of the apps that tests start. */
export const AUTH_URL = 'http://localhost:3001';
export const PRODUCT_URL = 'https://product.example.com';

/** What an assertion says; what is left out is as it should be, null leaves a claim out. */
export interface AssertionSettings {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A product's key, and the assertions it signs, good or bad. */
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
    const usual = { iss: PRODUCT_URL, aud: AUTH_URL, iat, sub: 'u1', challenge };
    const payload = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== null);
    return new SignJWT(Object.fromEntries(payload))
      .setProtectedHeader({ alg: this.alg, typ: 'login+jwt', ...header })
      .sign(this.privateKey);
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The same claims under a header of an attacker's, with what the attacker can make for a signature. */
export function forged(assertion: string, header: object, sign: (input: string) => string): string {
  const input = `${base64url({ typ: 'login+jwt', ...header })}.${assertion.split('.')[1]}`;
  return `${input}.${sign(input)}`;
}
