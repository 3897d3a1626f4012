import { hash } from 'node:crypto';
import {
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  importJWK,
  type ProtectedHeaderParameters,
} from 'jose';
import { InvalidProofError } from './invalid-proof.error.js';
import {
  type DpopAlgorithm,
  DPOP_ALGORITHMS,
  isDpopAlgorithm,
  type PublicKey,
  readPublicKey,
} from './public-key.js';
import { targetUri } from './target-uri.js';

/** A proof whose signature, claims and target are valid. Whether it was used before is not checked yet. */
export interface DpopProof {
  /** Thumbprint of the key that signed it (RFC 7638, SHA-256, base64url). */
  readonly jkt: string;
  /** Chosen by the client, at most 256 characters. */
  readonly jti: string;
  /** Null when the proof has none. */
  readonly nonce: string | null;
  /** When it becomes too old to be accepted (milliseconds since the epoch); it must be remembered until then. */
  readonly expiresAt: number;
}

/** The request that a proof must have been made for. */
export interface ProofTarget {
  readonly method: string;
  /** Its public URI, by `publicUri`. */
  readonly uri: string;
  /** The access token of the request; absent at the token endpoints. */
  readonly accessToken?: string;
}

export interface DpopVerifierOptions {
  /** How long after its `iat` a proof is accepted, in seconds. */
  readonly lifetime: number;
  /** How far in the future its `iat` may be, in seconds. */
  readonly clockSkew: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Defaults where nothing else is configured; seconds. */
export const DEFAULT_PROOF_LIFETIME = 300;
export const DEFAULT_CLOCK_SKEW = 5;

/** The longest proof that is read, in characters: one with a 4096-bit RSA key has about 1800. */
const MAX_PROOF = 8192;
const MAX_JTI = 256;
const MAX_NONCE = 256;
/** How much of a refused claim an error shows. */
const MAX_SHOWN = 300;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Verifies DPoP proofs by RFC 9449 4.3, in the RFC's order: header field, JOSE header, signature, claims. Two checks are
 * left to the token app, which has the memory for them: that a nonce is the server's, and that the proof was not used
 * before. Does no I/O.
 */
export class DpopVerifier {
  constructor(private readonly options: DpopVerifierOptions) {}

  /**
   * @param field value of the DPoP header field
   * @throws InvalidProofError that names the failed check
   */
  async verify(field: string | readonly string[] | undefined, target: ProofTarget): Promise<DpopProof> {
    const proof = readProof(field);
    const claims = await signedClaims(proof);
    return {
      ...this.checkClaims(claims, target),
      jkt: await calculateJwkThumbprint(proof.jwk, 'sha256'),
    };
  }

  /** The claims are signed by now. */
  private checkClaims(
    claims: Readonly<Record<string, unknown>>,
    { method, uri, accessToken }: ProofTarget,
  ): Omit<DpopProof, 'jkt'> {
    const { clock, lifetime, clockSkew } = this.options;
    const now = clock();
    // 3: "All required claims per Section 4.2 are contained in the JWT."
    const { jti, htm, htu, iat, ath, nonce = null } = claims;
    if (typeof jti !== 'string' || jti === '') throw new InvalidProofError('jti', 'the claim jti is missing');
    if (jti.length > MAX_JTI)
      throw new InvalidProofError('jti', `the claim jti is longer than ${MAX_JTI} characters`);
    if (typeof htm !== 'string' || typeof htu !== 'string' || typeof iat !== 'number')
      throw new InvalidProofError('claims', 'the claims htm, htu and iat are needed');
    // 8: "The htm claim matches the HTTP method of the current request."
    if (htm !== method)
      throw new InvalidProofError('htm', 'the claim htm is not the method of this request', {
        compared: { sent: htm.slice(0, MAX_SHOWN), expected: method },
      });
    // 9: "The htu claim matches the HTTP URI value for the HTTP request in which the JWT was received, ignoring any
    // query and fragment parts."
    const target = targetUri(htu);
    if (target === null || target !== targetUri(uri))
      throw new InvalidProofError('htu', 'the claim htu is not the address of this request', {
        compared: { sent: (target ?? htu).slice(0, MAX_SHOWN), expected: uri },
      });
    // 10: "If the server provided a nonce value to the client, the nonce claim matches": the token app checks the value.
    if (nonce !== null && (typeof nonce !== 'string' || nonce.length > MAX_NONCE))
      throw new InvalidProofError('nonce', 'the claim nonce was not issued by this server');
    // 11: "The creation time of the JWT, as determined by either the iat claim or a server managed timestamp via the
    // nonce claim, is within an acceptable window."
    const expiresAt = (iat + lifetime) * 1000;
    if (expiresAt < now)
      throw new InvalidProofError('iat', `the proof is older than ${lifetime} seconds`, clocks(iat, now));
    if (iat * 1000 > now + clockSkew * 1000)
      throw new InvalidProofError('iat', 'the claim iat is in the future: set the clock', clocks(iat, now));
    // 12: "If presented to a protected resource in conjunction with an access token, ensure that the value of the ath
    // claim equals the hash of that access token."
    if (accessToken !== undefined && ath !== hash('sha256', accessToken, 'base64url'))
      throw new InvalidProofError('ath', 'the claim ath is not the SHA-256 of the access token');
    return { jti, nonce, expiresAt };
  }
}

/** @param now milliseconds */
function clocks(iat: number, now: number): { compared: Readonly<Record<string, string>> } {
  return {
    compared: { sent: `${iat} (iat)`, expected: `${Math.floor(now / 1000)} (clock of this service)` },
  };
}

/** A proof with a valid JOSE header; nothing is verified yet. */
interface UnverifiedProof {
  readonly jwt: string;
  readonly alg: DpopAlgorithm;
  readonly jwk: PublicKey;
}

/** @param field the header field's value; Node joins repeated ones with a comma, which no JWT contains */
function readProof(field: string | readonly string[] | undefined): UnverifiedProof {
  if (field === undefined || field.length === 0)
    throw new InvalidProofError('one header', 'the DPoP header is missing');
  // RFC 9449 4.3, 1: "There is not more than one DPoP HTTP request header field."
  if (typeof field !== 'string' || field.includes(','))
    throw new InvalidProofError('one header', 'there is more than one DPoP header');
  if (field.length > MAX_PROOF)
    throw new InvalidProofError('size', `the proof is longer than ${MAX_PROOF} characters`);
  const header = joseHeader(field);
  // 4: "The typ JOSE Header Parameter has the value dpop+jwt."
  if (header.typ !== 'dpop+jwt') throw new InvalidProofError('typ', 'its typ must be dpop+jwt');
  // 5: "The alg JOSE Header Parameter indicates a registered asymmetric digital signature algorithm, is not none, is
  // supported by the application, and is acceptable per local policy."
  const { alg } = header;
  if (!isDpopAlgorithm(alg))
    throw new InvalidProofError('alg', `its alg must be one of ${DPOP_ALGORITHMS.join(', ')}`);
  // No extension is supported, and RFC 7515 4.1.11 refuses what is critical and not understood.
  if (header.crit !== undefined) throw new InvalidProofError('well-formed', 'its header must not have crit');
  return { jwt: field, alg, jwk: readPublicKey(header.jwk, alg) };
}

/** 2: "The DPoP HTTP request header field value is a single and well-formed JWT." */
function joseHeader(jwt: string): ProtectedHeaderParameters {
  try {
    if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt)) return decodeProtectedHeader(jwt);
  } catch (error) {
    throw new InvalidProofError('well-formed', 'it is not a well-formed JWT', { cause: error });
  }
  throw new InvalidProofError('well-formed', 'it is not a well-formed JWT');
}

/** 6: "The JWT signature verifies with the public key contained in the jwk JOSE Header Parameter." */
async function signedClaims({ jwt, alg, jwk }: UnverifiedProof): Promise<Readonly<Record<string, unknown>>> {
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(jwt, await importJWK(jwk, alg), { algorithms: [alg] }));
  } catch (error) {
    throw new InvalidProofError('signature', 'its signature is not by the key of its jwk', { cause: error });
  }
  try {
    const claims: unknown = JSON.parse(utf8.decode(payload));
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new InvalidProofError('well-formed', 'its payload is not a JSON object', { cause: error });
  }
  throw new InvalidProofError('well-formed', 'its payload is not a JSON object');
}
