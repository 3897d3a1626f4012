import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';

export const AUTH_URL = 'https://auth.example.com';
export const PRODUCT_URL = 'https://app.example.com';

/** What an assertion says; what is left out is as it should be, null leaves a claim out. */
export interface AssertionSettings {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A product's key, and the assertions it signs, good or bad. */
export class ProductKey {
  private constructor(
    private readonly alg: string,
    private readonly privateKey: CryptoKey,
    readonly jwk: JWK,
    readonly pem: string,
  ) {}

  static async generate(alg = 'EdDSA'): Promise<ProductKey> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    return new ProductKey(alg, privateKey, await exportJWK(publicKey), await exportSPKI(publicKey));
  }

  /** @param audience AUTH_URL of the app under test */
  assertion(
    challenge: string,
    { header, claims }: AssertionSettings = {},
    audience = AUTH_URL,
    issuer = PRODUCT_URL,
  ): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const payload = Object.entries({ iss: issuer, aud: audience, iat, sub: 'u1', challenge, ...claims });
    return new SignJWT(Object.fromEntries(payload.filter(([, value]) => value !== null)))
      .setProtectedHeader({ alg: this.alg, typ: 'login+jwt', ...header })
      .sign(this.privateKey);
  }
}
