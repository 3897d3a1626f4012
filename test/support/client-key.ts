import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { readRegisteredKeys } from '#oauth/client-assertion/client-keys.js';
import type { ClientKeys } from '#oauth/oauth-client.js';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Changes of an assertion. Omitted values are correct; null removes a value. */
export interface AssertionSettings {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Creates valid and invalid assertions (RFC 7523 3). */
export class ClientKey {
  private constructor(
    readonly alg: string,
    readonly privateKey: CryptoKey,
    /** Public key, including kid and alg. */
    readonly jwk: JWK,
  ) {}

  static async generate(alg = 'ES256', kid: string = randomUUID()): Promise<ClientKey> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
    return new ClientKey(alg, privateKey, { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' });
  }

  assertion(clientId: string, audience: string, { header, claims }: AssertionSettings = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      iss: clientId,
      sub: clientId,
      aud: audience,
      iat: now,
      exp: now + 60,
      jti: randomUUID(),
    };
    const present = (values: object) =>
      Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    return new SignJWT(present({ ...payload, ...claims }))
      .setProtectedHeader({ alg: this.alg, ...present({ kid: this.jwk.kid, ...header }) })
      .sign(this.privateKey);
  }
}

export function keysOf(...keys: readonly ClientKey[]): ClientKeys {
  return { jwks: readRegisteredKeys(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })), jwksUri: null };
}
