import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { readRegisteredKeys } from '#oauth/client-assertion/client-keys.js';
import type { ClientKeys } from '#oauth/oauth-client.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';

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

/** Changes of a proof. Omitted claims are correct; null removes a claim. */
export interface ProofSettings {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Access token whose hash is in the claim `ath`. */
  readonly accessToken?: string;
  /** Key that signs the proof instead of the key in the header. */
  readonly signer?: DpopKey;
}

/** Creates valid and invalid proofs (RFC 9449 4.2). */
export class DpopKey {
  private constructor(
    private readonly alg: string,
    readonly privateKey: CryptoKey,
    readonly publicKey: CryptoKey,
    readonly jwk: JWK,
    /** RFC 7638 thumbprint. */
    readonly jkt: string,
  ) {}

  static async generate(alg = 'ES256', modulusLength = 2048): Promise<DpopKey> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true, modulusLength });
    const jwk = await exportJWK(publicKey);
    return new DpopKey(alg, privateKey, publicKey, jwk, await calculateJwkThumbprint(jwk));
  }

  proof(htm: string, htu: string, settings: ProofSettings = {}): Promise<string> {
    const { header, claims, accessToken, signer = this } = settings;
    const ath =
      accessToken === undefined ? null : createHash('sha256').update(accessToken).digest('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const payload = Object.entries({ jti: randomUUID(), htm, htu, iat, ath, ...claims });
    return new SignJWT(Object.fromEntries(payload.filter(([, value]) => value !== null)))
      .setProtectedHeader({ typ: 'dpop+jwt', alg: this.alg, jwk: this.jwk, ...header })
      .sign(signer.privateKey);
  }
}

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
