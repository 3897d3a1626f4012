import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { FailedCheckError } from '../external-login/external-login.error.js';
import { isSessionId, isSubject } from '../configuration/profile-claims.js';
import { verifyWithAnyKey } from '#platform/http/provider-keys.js';
import { PRODUCT_ALGORITHMS, PRODUCT_KEYS, type ProductKeys } from '../configuration/product-keys.js';

/** Explicit typing (RFC 8725 3.11): another JWT signed with the product's key cannot be used as a login. */
const ASSERTION_TYPE = 'login+jwt';

const MAX_AGE_S = 60;

export interface LoginAssertion {
  readonly subject: string;
  /** `sid` (section 2.1 of OpenID Connect Back-Channel Logout 1.0); null if absent. */
  readonly sessionId: string | null;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
  /** Time of the last authentication, in seconds since the epoch; null if absent. */
  readonly authTime: number | null;
  readonly claims: JWTPayload;
}

/** Returns the unverified challenge, which identifies the login transaction; '' without a challenge. */
export function loginChallengeOf(assertion: string): string {
  try {
    const { challenge } = decodeJwt<{ challenge?: unknown }>(assertion);
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

@Injectable()
export class AssertionVerifier {
  constructor(
    @Inject(PRODUCT_KEYS) private readonly keys: ProductKeys,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws FailedCheckError; DependencyUnavailableError if the keys of the product cannot be fetched */
  async verify(assertion: string, challenge: string): Promise<LoginAssertion> {
    const { AUTH_URL, CLOCK_SKEW, loginIssuer } = this.configuration;
    const payload = await signedClaims(assertion, this.keys, {
      algorithms: PRODUCT_ALGORITHMS,
      typ: ASSERTION_TYPE,
      issuer: loginIssuer,
      audience: AUTH_URL,
      maxTokenAge: MAX_AGE_S,
      clockTolerance: CLOCK_SKEW,
      currentDate: new Date(this.clock()),
    });
    // A second audience could replay the assertion here.
    if ([payload.aud].flat().length !== 1) throw refusedAssertion('aud');
    if (payload['challenge'] !== challenge) throw refusedAssertion('challenge');
    const { sub, sid, iat = 0, auth_time: authTime = null } = payload;
    if (!isSubject(sub)) throw refusedAssertion('sub');
    if (sid !== undefined && !isSessionId(sid)) throw refusedAssertion('sid');
    if (authTime !== null && !(typeof authTime === 'number' && authTime <= iat + CLOCK_SKEW))
      throw refusedAssertion('auth_time');
    return { subject: sub, sessionId: sid ?? null, issuedAt: iat, authTime, claims: payload };
  }
}

const RULES: Readonly<Record<string, string>> = {
  typ: `its header must have the typ ${ASSERTION_TYPE}`,
  iss: 'its iss must be the origin of LOGIN_URL',
  aud: 'its aud must be AUTH_URL only',
  iat: `its iat must be a time in the last ${MAX_AGE_S} seconds: sign it when you send the browser back, with the correct time`,
  exp: 'it has expired',
  nbf: 'its nbf is in the future',
  challenge: 'its challenge must equal the challenge parameter of the redirect to LOGIN_URL',
  sub: 'its sub must be the user’s id: 1 to 255 printable ASCII characters',
  sid: 'its sid must be the id of your session: text of 1 to 255 characters',
  auth_time: 'its auth_time must be a number of seconds since 1970, and not after its iat',
};

async function signedClaims(jwt: string, keys: ProductKeys, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    const { payload } = await verifyWithAnyKey(jwt, keys, options);
    return payload;
  } catch (error) {
    throw error instanceof errors.JOSEError ? failureOf(error) : error;
  }
}

/** @param rule by default the rule of the failed claim */
export function refusedAssertion(failed: string, rule = RULES[failed]): FailedCheckError {
  return new FailedCheckError(failed, `the product’s login assertion is not accepted: ${rule}`);
}

function failureOf(error: errors.JOSEError): FailedCheckError {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return refusedAssertion(error.claim);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return refusedAssertion('alg', 'its alg must be EdDSA or ES256');
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return refusedAssertion(
      'signature',
      'its signature does not match any key in LOGIN_PUBLIC_KEY or LOGIN_JWKS_URL',
    );
  return refusedAssertion('format', 'it is not a signed JWT');
}
