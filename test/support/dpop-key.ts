import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

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
