import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { compactVerify, type CompactJWSHeaderParameters, errors, type JWK, SignJWT } from 'jose';
import { thumbprintOf } from '#oauth/jwk.js';
import { KeyRing } from '#keys/key-ring.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { LOGIN_VALIDITY } from '../external-login/external-login.service.js';

/** Explicit typing (RFC 8725 3.11): the product cannot mistake another JWT of this service for a challenge. */
const CHALLENGE_TYPE = 'login-challenge+jwt';

/** Maximum length in characters. Issued challenges are shorter. */
const MAX_CHALLENGE = 4_000;

/** Claims of a challenge, which the product can read. Undefined claims are omitted. */
export interface ChallengeClaims {
  /** Single-use id of the login transaction. */
  readonly jti: string;
  readonly client_name?: string | undefined;
  /** `login`, `select_account`, or both (OpenID Connect Core 3.1.2.1). */
  readonly prompt?: string | undefined;
  readonly max_age?: number | undefined;
  readonly login_hint?: string | undefined;
  readonly ui_locales?: string | undefined;
}

export interface IssuedChallenge extends ChallengeClaims {
  /** Seconds since the epoch. */
  readonly iat: number;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * Signed login requests. The product verifies a challenge before it shows the application's name. This service rejects
 * forged challenges without I/O.
 */
@Injectable()
export class LoginChallenges {
  /** The first key signs, and all keys verify. */
  private readonly keys: readonly [SigningKey, ...SigningKey[]];

  constructor(
    keys: KeyRing,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const [first, ...others] = keys.keysFor('challenge').map(signingKey);
    if (!first) throw new RangeError('challenges need a key');
    this.keys = [first, ...others];
  }

  issue(claims: ChallengeClaims): Promise<string> {
    const { AUTH_URL, loginIssuer } = this.configuration;
    const [{ kid, privateKey }] = this.keys;
    const issuedAt = Math.floor(this.clock() / 1000);
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'EdDSA', typ: CHALLENGE_TYPE, kid })
      .setIssuer(AUTH_URL)
      .setAudience(loginIssuer)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LOGIN_VALIDITY)
      .sign(privateKey);
  }

  /** Ignores expiry and reuse, which the login transaction checks. @returns null if malformed or forged */
  async verify(challenge: unknown): Promise<IssuedChallenge | null> {
    if (typeof challenge !== 'string' || challenge.length > MAX_CHALLENGE) return null;
    try {
      const { payload } = await compactVerify(challenge, this.publicKeyOf, { algorithms: ['EdDSA'] });
      return JSON.parse(Buffer.from(payload).toString()) as IssuedChallenge;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  /** Public keys as a JWK Set (RFC 7517 5). */
  get jwks(): { readonly keys: readonly JWK[] } {
    return {
      keys: this.keys.map(({ kid, publicKey }) => ({
        ...(publicKey.export({ format: 'jwk' }) as JWK),
        kid,
        alg: 'EdDSA',
        use: 'sig',
      })),
    };
  }

  private readonly publicKeyOf = ({ kid }: CompactJWSHeaderParameters): KeyObject => {
    const key = this.keys.find((candidate) => candidate.kid === kid);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key.publicKey;
  };
}

/** An Ed25519 private key is 32 random bytes after this DER prefix (RFC 8410 7). */
const DER_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

function signingKey(seed: Buffer): SigningKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([DER_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey);
  const { x } = publicKey.export({ format: 'jwk' }) as Required<Pick<JsonWebKey, 'x'>>;
  const kid = thumbprintOf({ kty: 'OKP', crv: 'Ed25519', x });
  return { kid, privateKey, publicKey };
}
