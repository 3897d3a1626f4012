import { compactVerify } from 'jose';
import { type ComparedValues, idOf } from '../oauth-error.js';
import type { AssertionReasons, Reason } from '../reasons.js';
import { isClientId } from '../oauth-client.js';
import { FAPI_ALGORITHMS, fapiClockSkew, isFapiAlgorithm } from '../jwk.js';
import { hasRepeatedNames } from '../parameters.js';
import {
  ASSERTION_ALGORITHMS,
  type AssertionAlgorithm,
  type ClientJwk,
  isAssertionAlgorithm,
} from './client-keys.js';

export class InvalidAssertionError extends Error {
  readonly compared: ComparedValues;

  constructor(
    readonly reason: Reason<AssertionReasons>,
    compared: ComparedValues = {},
  ) {
    super(`invalid client assertion: ${idOf(reason)}`);
    this.name = 'InvalidAssertionError';
    this.compared = compared;
  }
}

/** Value of `client_assertion_type` (RFC 7523 2.2). */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A well-formed assertion with an unverified signature. */
export interface UnverifiedAssertion {
  readonly jwt: string;
  readonly alg: AssertionAlgorithm;
  /** Null if the header names no key. */
  readonly kid: string | null;
  /** `iss` and `sub`, which are equal. */
  readonly clientId: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** An assertion with valid claims. Replays are not checked yet. */
export interface AssertionClaims {
  /** Chosen by the client, at most 256 characters. */
  readonly jti: string;
  /** Milliseconds since the epoch; the assertion must be remembered until then. */
  readonly expiresAt: number;
}

export interface AssertionRules {
  /** Values of `aud` that identify this server. */
  readonly audiences: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Seconds. */
  readonly clockSkew: number;
  readonly isFapi?: boolean;
}

/** In seconds. Limits how long a stolen assertion can be used, and how long its `jti` is stored. */
export const MAX_ASSERTION_LIFETIME = 600;

const MAX_JTI = 256;
/** Characters of a rejected claim in the log. */
const MAX_SHOWN_CLAIM = 300;

/**
 * Accepted values of `typ`, which exclude other JWTs, such as DPoP proofs (RFC 8725 3.11). The last two are from the
 * drafts of RFC 7523bis and of metadata documents.
 */
const TYPES: readonly unknown[] = [
  undefined,
  'JWT',
  'jwt',
  'client-authentication+jwt',
  'oauth-client-auth+jwt',
];

/** Forbidden header parameters, because only keys of the client's registration are used, never keys of the request. */
const KEY_HEADERS = ['jwk', 'jku', 'x5u', 'x5c'] as const;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads an assertion without I/O and without verifying its signature. @throws InvalidAssertionError */
export function parseAssertion(jwt: string): UnverifiedAssertion {
  const [, encodedHeader = '', encodedClaims = ''] = /^([\w-]+)\.([\w-]+)\.[\w-]+$/.exec(jwt) ?? [];
  const header = jsonObject(encodedHeader, 'header');
  // RFC 8725 3.1: accepts only fixed algorithms, never `none` or an HMAC.
  const { alg, kid, typ, crit } = header;
  if (!isAssertionAlgorithm(alg))
    throw new InvalidAssertionError({
      id: 'client_assertion_alg_unsupported',
      algorithms: ASSERTION_ALGORITHMS,
    });
  if (!TYPES.includes(typ)) throw new InvalidAssertionError('client_assertion_malformed.typ');
  // RFC 7515 4.1.11: rejects critical extensions, because no extension is supported.
  if (crit !== undefined) throw new InvalidAssertionError('client_assertion_malformed.crit');
  const named = KEY_HEADERS.find((name) => name in header);
  if (named !== undefined)
    throw new InvalidAssertionError({ id: 'client_assertion_malformed.key_header', header: named });
  if (kid !== undefined && typeof kid !== 'string')
    throw new InvalidAssertionError('client_assertion_malformed.kid');
  const claims = jsonObject(encodedClaims, 'payload');
  return { jwt, alg, kid: kid ?? null, clientId: clientIdOf(claims), claims };
}

/** RFC 7523 3, 1 and 2: for client authentication, `iss` and `sub` are the client_id. */
function clientIdOf({ iss, sub }: Readonly<Record<string, unknown>>): string {
  if (typeof sub !== 'string' || !isClientId(sub) || iss !== sub)
    throw new InvalidAssertionError('client_assertion_issuer_mismatch');
  return sub;
}

/** Checks the claims of RFC 7523 3 that need no key. @throws InvalidAssertionError */
export function checkAssertionClaims(
  { claims, alg }: UnverifiedAssertion,
  { audiences, now, isFapi = false, ...rules }: AssertionRules,
): AssertionClaims {
  // Section 5.4.1 of FAPI 2.0 permits PS256, ES256 and EdDSA.
  if (isFapi && !isFapiAlgorithm(alg))
    throw new InvalidAssertionError({
      id: 'client_assertion_alg_unsupported',
      algorithms: FAPI_ALGORITHMS,
    });
  const clockSkew = isFapi ? fapiClockSkew(rules.clockSkew) : rules.clockSkew;
  const { aud, exp, iat, nbf, jti } = claims;
  // RFC 7523 3, 3: this server must be the only audience, because any other audience could present the assertion here.
  // Section 5.3.2.1 of FAPI 2.0: "shall only accept its issuer identifier value … as a string in the aud claim".
  const named: readonly unknown[] = Array.isArray(aud) && !isFapi ? aud : [aud];
  if (named.length === 0 || !named.every((name) => audiences.includes(name as string)))
    throw new InvalidAssertionError('client_assertion_audience_mismatch', {
      sent: Array.isArray(aud) && isFapi ? `a list: ${shown(aud)}` : shown(aud),
      expected: audiences.join(' '),
    });
  const seconds = now / 1000;
  const clock = `${Math.floor(seconds)} (clock of this service)`;
  // 4: "The JWT MUST contain an exp (expiration time) claim".
  if (!isTime(exp)) throw new InvalidAssertionError('client_assertion_expired.exp');
  if (exp <= seconds - clockSkew)
    throw new InvalidAssertionError('client_assertion_expired', {
      sent: `${exp} (exp)`,
      expected: `later than ${clock}`,
    });
  // 4: "The authorization server may reject JWTs with an exp claim value that is unreasonably far in the future."
  if (exp > seconds + MAX_ASSERTION_LIFETIME + clockSkew)
    throw new InvalidAssertionError(
      { id: 'client_assertion_lifetime_exceeded', max: MAX_ASSERTION_LIFETIME },
      { sent: `${exp} (exp)`, expected: `at most ${MAX_ASSERTION_LIFETIME} s after ${clock}` },
    );
  // RFC 7523 3, 5 and 6: rejects JWTs before their nbf, and may reject an unreasonable iat.
  for (const [name, time] of Object.entries({ iat, nbf }))
    if (time !== undefined && (!isTime(time) || time > seconds + clockSkew))
      throw new InvalidAssertionError(
        { id: 'client_assertion_not_yet_valid', claim: name },
        { sent: `${shown(time)} (${name})`, expected: `at most ${clock}` },
      );
  // RFC 7523 3, 7: jti identifies the JWT, so that it can be accepted only once.
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI)
    throw new InvalidAssertionError({ id: 'client_assertion_jti_invalid', max: MAX_JTI });
  return { jti, expiresAt: Math.ceil((exp + clockSkew) * 1000) };
}

/** Tries each key until the signature verifies. @param keys from `candidateKeys` */
export async function isSignedBy(
  { jwt, alg }: UnverifiedAssertion,
  keys: readonly ClientJwk[],
): Promise<boolean> {
  for (const key of keys) {
    try {
      await compactVerify(jwt, key, { algorithms: [alg] });
      return true;
    } catch {
      // Another key made the signature, or this key cannot be imported.
    }
  }
  return false;
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function shown(value: unknown): string {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = parts.map((part) =>
    typeof part === 'string' || typeof part === 'number' ? String(part) : typeof part,
  );
  return texts.join(' ').slice(0, MAX_SHOWN_CLAIM);
}

/** Rejects repeated names (RFC 7515 4, RFC 7519 4), because two parsers could read different values. */
function jsonObject(encoded: string, part: 'header' | 'payload'): Readonly<Record<string, unknown>> {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(Buffer.from(encoded, 'base64url'));
    value = JSON.parse(text);
  } catch {
    throw new InvalidAssertionError('client_assertion_malformed.jwt');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidAssertionError({ id: 'client_assertion_malformed.not_object', part });
  if (hasRepeatedNames(text, value))
    throw new InvalidAssertionError({ id: 'client_assertion_malformed.repeated_name', part });
  return value as Readonly<Record<string, unknown>>;
}
