import { decodeProtectedHeader, type ProtectedHeaderParameters } from 'jose';
import { type DpopAlgorithm, DPOP_ALGORITHMS, isDpopAlgorithm } from './dpop-algorithms.js';
import { InvalidProofError } from './invalid-proof.error.js';
import { type PublicKey, readPublicKey } from './public-key.js';

/** Longest proof that is looked at, in characters: one with a 4096-bit RSA key has about 1800. */
const MAX_PROOF = 8192;

/** A proof as its header describes it; nothing is verified yet. */
export interface UnverifiedProof {
  readonly jwt: string;
  readonly alg: DpopAlgorithm;
  readonly jwk: PublicKey;
}

/**
 * Reads a DPoP header field up to its JOSE header.
 *
 * @param field the field's value; Node joins repeated ones with a comma, which no JWT holds
 * @throws InvalidProofError
 */
export function readProof(field: string | readonly string[] | undefined): UnverifiedProof {
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
  // No extension is known here, and RFC 7515 4.1.11 refuses what is critical and not understood.
  if (header.crit !== undefined) throw new InvalidProofError('well-formed', 'its header must not have crit');
  return { jwt: field, alg, jwk: readPublicKey(header.jwk, alg) };
}

/** 2: "The DPoP HTTP request header field value is a single and well-formed JWT." */
function joseHeader(jwt: string): ProtectedHeaderParameters {
  try {
    if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt)) return decodeProtectedHeader(jwt);
  } catch (error) {
    throw new InvalidProofError('well-formed', 'it is not a well-formed JWT', error);
  }
  throw new InvalidProofError('well-formed', 'it is not a well-formed JWT');
}
