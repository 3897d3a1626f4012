import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { isSessionId, isSubject } from '../external-login/profile-claims.js';
import { verifyWithAnyKey } from '../external-login/provider-keys.js';
import { PRODUCT_ALGORITHMS, type ProductKeys } from './product-keys.js';

/** Explicit typing (RFC 8725 3.11): no other JWT that the product signs with its key is a login. */
const ASSERTION_TYPE = 'login+jwt';

/** Seconds. */
const MAX_AGE = 60;

/** What the product says about the user who logged in. */
export interface LoginAssertion {
  readonly subject: string;
  /** The product's session (`sid`, OpenID Connect Back-Channel Logout 1.0 2.1); null if the product does not say. */
  readonly sessionId: string | null;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
  /** When the user gave the password or the like, in seconds since the epoch; null if the product does not say. */
  readonly authTime: number | null;
  /** All claims, for the profile. */
  readonly claims: JWTPayload;
}

export interface AssertionOptions {
  /** The origin of LOGIN_URL. */
  readonly issuer: string;
  /** AUTH_URL. */
  readonly audience: string;
  /** Seconds. */
  readonly clockSkew: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Reads the challenge from an assertion without verifying it; empty if the assertion has no challenge. The challenge identifies
 * the login transaction, so that the page of a refused assertion can start the same login again.
 */
export function challengeOf(assertion: string): string {
  try {
    const { challenge } = decodeJwt<{ challenge?: unknown }>(assertion);
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

/**
 * An assertion that is not accepted. The message tells the product's developer what to correct. It has no cause: errors of
 * jose hold the claims, which must not reach a log.
 */
export class InvalidAssertionError extends Error {
  constructor(
    /** The claim, header parameter or property that is wrong. */
    readonly failed: string,
    rule: string,
  ) {
    super(`the product’s login assertion is not accepted: ${rule}`);
    this.name = 'InvalidAssertionError';
  }
}

/** Verifies the JWT that the product's login returns: signature, type, issuer, audience and time. */
export class AssertionVerifier {
  constructor(
    private readonly keys: ProductKeys,
    private readonly options: AssertionOptions,
  ) {}

  /**
   * @param challenge that the assertion must answer
   * @throws InvalidAssertionError; DependencyUnavailableError if the product's keys cannot be fetched
   */
  async verify(assertion: string, challenge: string): Promise<LoginAssertion> {
    const { issuer, audience, clockSkew, clock } = this.options;
    const payload = await signedClaims(assertion, this.keys, {
      algorithms: PRODUCT_ALGORITHMS,
      typ: ASSERTION_TYPE,
      issuer,
      audience,
      maxTokenAge: MAX_AGE,
      clockTolerance: clockSkew,
      currentDate: new Date(clock()),
    });
    // Another audience of the same assertion could pass it on to us.
    if ([payload.aud].flat().length !== 1) throw new InvalidAssertionError('aud', RULES.aud);
    if (payload['challenge'] !== challenge) throw new InvalidAssertionError('challenge', RULES.challenge);
    const { sub, sid, iat = 0, auth_time: authTime = null } = payload;
    if (!isSubject(sub)) throw new InvalidAssertionError('sub', RULES.sub);
    if (sid !== undefined && !isSessionId(sid)) throw new InvalidAssertionError('sid', RULES.sid);
    if (authTime !== null && !(typeof authTime === 'number' && authTime <= iat + clockSkew))
      throw new InvalidAssertionError('auth_time', RULES.auth_time);
    return { subject: sub, sessionId: sid ?? null, issuedAt: iat, authTime, claims: payload };
  }
}

/** What the product's developer must correct, by the claim or header parameter. */
const RULES = {
  typ: `its header must have the typ ${ASSERTION_TYPE}`,
  iss: 'its iss must be the origin of LOGIN_URL',
  aud: 'its aud must be AUTH_URL, and nothing else',
  iat: `its iat must be a time in the last ${MAX_AGE} seconds: sign it when you send the browser back, with the right time`,
  exp: 'it has expired',
  nbf: 'its nbf is in the future',
  challenge: 'its challenge must be the one that came with the browser, unchanged',
  sub: 'its sub must be the user’s id: 1 to 255 printable ASCII characters',
  sid: 'its sid must be the id of your session: text of 1 to 255 characters',
  auth_time: 'its auth_time must be a number of seconds since 1970, and not after its iat',
} as const;

async function signedClaims(jwt: string, keys: ProductKeys, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    const { payload } = await verifyWithAnyKey(jwt, keys, options);
    return payload;
  } catch (error) {
    throw error instanceof errors.JOSEError ? refusal(error) : error;
  }
}

function refusal(error: errors.JOSEError): InvalidAssertionError {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim } = error;
    return new InvalidAssertionError(claim, RULES[claim as keyof typeof RULES]);
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new InvalidAssertionError('alg', 'its alg must be EdDSA or ES256');
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return new InvalidAssertionError(
      'signature',
      'its signature is not by a key of LOGIN_PUBLIC_KEY or LOGIN_JWKS_URL',
    );
  return new InvalidAssertionError('format', 'it is not a signed JWT');
}
