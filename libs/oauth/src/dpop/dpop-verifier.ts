import { hash } from 'node:crypto';
import {
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  importJWK,
  type ProtectedHeaderParameters,
} from 'jose';
import { type ComparedValues, idOf } from '../oauth-error.js';
import type { ProofReasons, Reason } from '../reasons.js';
import {
  fapiClockSkew,
  InvalidKeyError,
  type PublicKey,
  readPublicJwk,
  type SignatureAlgorithm,
} from '../jwk.js';

export class InvalidProofError extends Error {
  readonly compared: ComparedValues;

  constructor(
    readonly reason: Reason<ProofReasons>,
    { cause, compared = {} }: { readonly cause?: unknown; readonly compared?: ComparedValues } = {},
  ) {
    super(`invalid DPoP proof: ${idOf(reason)}`, { cause });
    this.name = 'InvalidProofError';
    this.compared = compared;
  }
}

/**
 * Excludes RS256, which section 5.4.1 of FAPI 2.0 forbids, because an API cannot distinguish the clients that follow
 * FAPI 2.0.
 */
export const DPOP_ALGORITHMS = ['ES256', 'ES384', 'Ed25519', 'EdDSA', 'PS256'] as const;

function isDpopAlgorithm(alg: unknown): alg is SignatureAlgorithm {
  return DPOP_ALGORITHMS.some((supported) => supported === alg);
}

/** Reads the `jwk` of a proof for its `alg`, and rejects a private key (RFC 9449 4.3, 7). @throws InvalidProofError */
function readProofKey(jwk: unknown, alg: SignatureAlgorithm): PublicKey {
  if (jwk === undefined) throw new InvalidProofError('dpop_jwk_invalid.missing');
  try {
    return readPublicJwk(jwk, alg);
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    throw new InvalidProofError({ id: 'dpop_jwk_invalid', problem: error.problem });
  }
}

/** Permits only RFC 3986 syntax, because the URL class corrects backslashes, spaces, tabs and missing slashes. */
const HTTP_URI = /^https?:\/\/[^/?#@\\]+(?:[/?#]|$)/i;
const URI_CHARACTERS = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Normalizes a URI for `htu` (RFC 9449 4.3, RFC 3986 6.2.2 and 6.2.3); null if it is not an http or https URI. */
export function targetUri(uri: string): string | null {
  if (!HTTP_URI.test(uri) || !URI_CHARACTERS.test(uri) || BAD_ESCAPE.test(uri) || !URL.canParse(uri))
    return null;
  // The URL class lower-cases scheme and host, drops the default port and removes dot segments.
  const { protocol, host, pathname } = new URL(uri);
  return `${protocol}//${host}${pathname.replaceAll(/%[0-9a-f]{2}/gi, normalizeEscape)}`;
}

/** RFC 3986 6.2.2.1 and 6.2.2.2: escapes are upper-case, and unreserved characters are not escaped. */
function normalizeEscape(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return /[\w\-.~]/.test(character) ? character : escape.toUpperCase();
}

/**
 * Returns the public URL of a request. Ignores the Host header, which the sender chooses.
 * @param address public base URL without a trailing slash
 */
export function publicUri(address: string, path: string): string {
  const [withoutQuery = ''] = path.split('?', 1);
  return address + (withoutQuery.startsWith('/') ? withoutQuery : `/${withoutQuery}`);
}

/** A proof with a valid signature, claims and target. Replays are not checked yet. */
export interface DpopProof {
  /** Thumbprint of the signing key (RFC 7638, SHA-256, base64url). */
  readonly jkt: string;
  readonly alg: SignatureAlgorithm;
  /** Chosen by the client, at most 256 characters. */
  readonly jti: string;
  readonly nonce: string | null;
  /** Milliseconds since the epoch; the proof must be remembered until then. */
  readonly expiresAt: number;
}

export interface ProofTarget {
  readonly method: string;
  /** Public URL of the request (`publicUri`). */
  readonly uri: string;
  /** Access token of the request; absent at the token endpoints. */
  readonly accessToken?: string;
}

export interface DpopVerifierOptions {
  /** Seconds after `iat` during which a proof is accepted. */
  readonly lifetime: number;
  /** Seconds that `iat` may be in the future; `fapiClockSkew` limits them to 10 to 60. */
  readonly clockSkew: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** In seconds. */
export const DEFAULT_PROOF_LIFETIME = 300;
export const DEFAULT_CLOCK_SKEW = 5;

/** In characters. A proof with a 4096-bit RSA key has about 1800 characters. */
const MAX_PROOF = 8192;
const MAX_JTI = 256;
const MAX_NONCE = 256;
/** Characters of a rejected claim in the log. */
const MAX_SHOWN_CLAIM = 300;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Follows the order of RFC 9449 4.3: header field, JOSE header, signature, claims. The token app
 * checks nonces and replays.
 */
export class DpopVerifier {
  constructor(private readonly options: DpopVerifierOptions) {}

  /** @param field value of the DPoP header field @throws InvalidProofError */
  async verify(field: string | readonly string[] | undefined, target: ProofTarget): Promise<DpopProof> {
    const proof = readProof(field);
    const claims = await signedClaims(proof);
    return {
      ...this.checkClaims(claims, target),
      alg: proof.alg,
      jkt: await calculateJwkThumbprint(proof.jwk, 'sha256'),
    };
  }

  private checkClaims(
    claims: Readonly<Record<string, unknown>>,
    { method, uri, accessToken }: ProofTarget,
  ): Omit<DpopProof, 'jkt' | 'alg'> {
    const { clock, lifetime, clockSkew } = this.options;
    const now = clock();
    // 3: "All required claims per Section 4.2 are contained in the JWT."
    const { jti, htm, htu, iat, ath, nonce = null } = claims;
    if (typeof jti !== 'string' || jti === '') throw new InvalidProofError('dpop_jti_invalid.missing');
    if (jti.length > MAX_JTI) throw new InvalidProofError({ id: 'dpop_jti_invalid.too_long', max: MAX_JTI });
    if (typeof htm !== 'string' || typeof htu !== 'string' || typeof iat !== 'number')
      throw new InvalidProofError('dpop_claim_missing');
    // 8: "The htm claim matches the HTTP method of the current request."
    if (htm !== method)
      throw new InvalidProofError('dpop_htm_mismatch', {
        compared: { sent: htm.slice(0, MAX_SHOWN_CLAIM), expected: method },
      });
    // 9: "The htu claim matches the HTTP URI value for the HTTP request […], ignoring any query and fragment parts."
    const target = targetUri(htu);
    if (target === null || target !== targetUri(uri))
      throw new InvalidProofError('dpop_htu_mismatch', {
        compared: { sent: (target ?? htu).slice(0, MAX_SHOWN_CLAIM), expected: uri },
      });
    // 10: "If the server provided a nonce value to the client, the nonce claim matches". The token app checks this.
    if (nonce !== null && (typeof nonce !== 'string' || nonce.length > MAX_NONCE))
      throw new InvalidProofError('dpop_nonce_unknown');
    // 11: "The creation time of the JWT […] is within an acceptable window."
    const expiresAt = (iat + lifetime) * 1000;
    if (expiresAt < now)
      throw new InvalidProofError({ id: 'dpop_iat_out_of_range.past', max: lifetime }, clocks(iat, now));
    if (iat * 1000 > now + fapiClockSkew(clockSkew) * 1000)
      throw new InvalidProofError('dpop_iat_out_of_range.future', clocks(iat, now));
    // 12: with an access token, "ensure that the value of the ath claim equals the hash of that access token."
    if (accessToken !== undefined && ath !== hash('sha256', accessToken, 'base64url'))
      throw new InvalidProofError('dpop_ath_mismatch');
    return { jti, nonce, expiresAt };
  }
}

function clocks(iat: number, now: number): { compared: Readonly<Record<string, string>> } {
  return {
    compared: { sent: `${iat} (iat)`, expected: `${Math.floor(now / 1000)} (clock of this service)` },
  };
}

/** A proof with a valid JOSE header and an unverified signature. */
interface UnverifiedProof {
  readonly jwt: string;
  readonly alg: SignatureAlgorithm;
  readonly jwk: PublicKey;
}

/** @param field value of the DPoP header; a comma means that it was repeated */
function readProof(field: string | readonly string[] | undefined): UnverifiedProof {
  if (field === undefined || field.length === 0) throw new InvalidProofError('dpop_header_invalid.missing');
  // RFC 9449 4.3, 1: "There is not more than one DPoP HTTP request header field."
  if (typeof field !== 'string' || field.includes(','))
    throw new InvalidProofError('dpop_header_invalid.repeated');
  if (field.length > MAX_PROOF) throw new InvalidProofError({ id: 'dpop_proof_too_long', max: MAX_PROOF });
  const header = joseHeader(field);
  // 4: "The typ JOSE Header Parameter has the value dpop+jwt."
  if (header.typ !== 'dpop+jwt') throw new InvalidProofError('dpop_typ_mismatch');
  // 5: alg is "a registered asymmetric digital signature algorithm, […] and is acceptable per local policy."
  const { alg } = header;
  if (!isDpopAlgorithm(alg))
    throw new InvalidProofError({ id: 'dpop_alg_unsupported', algorithms: DPOP_ALGORITHMS });
  // RFC 7515 4.1.11: rejects critical extensions, because no extension is supported.
  if (header.crit !== undefined) throw new InvalidProofError('dpop_proof_malformed.crit');
  return { jwt: field, alg, jwk: readProofKey(header.jwk, alg) };
}

/** 2: "The DPoP HTTP request header field value is a single and well-formed JWT." */
function joseHeader(jwt: string): ProtectedHeaderParameters {
  try {
    if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt)) return decodeProtectedHeader(jwt);
  } catch (error) {
    throw new InvalidProofError('dpop_proof_malformed.jwt', { cause: error });
  }
  throw new InvalidProofError('dpop_proof_malformed.jwt');
}

/** 6: "The JWT signature verifies with the public key contained in the jwk JOSE Header Parameter." */
async function signedClaims({ jwt, alg, jwk }: UnverifiedProof): Promise<Readonly<Record<string, unknown>>> {
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(jwt, await importJWK(jwk, alg), { algorithms: [alg] }));
  } catch (error) {
    throw new InvalidProofError('dpop_signature_mismatch', { cause: error });
  }
  try {
    const claims: unknown = JSON.parse(utf8.decode(payload));
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new InvalidProofError('dpop_proof_malformed.payload', { cause: error });
  }
  throw new InvalidProofError('dpop_proof_malformed.payload');
}
