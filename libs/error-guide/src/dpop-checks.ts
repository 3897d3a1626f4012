import type { CheckOf, ProofReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';
import { keyText } from './protocol-texts.js';

const USE_A_LIBRARY = 'Let a library make the proof, for example `dpop` or `openid-client` for JavaScript.';

/** DPoP proofs (RFC 9449 4.3), at the token endpoints and at APIs: `invalid_dpop_proof` and `use_dpop_nonce`. */
export const DPOP_CHECKS = {
  dpop_header_invalid: {
    title: 'The request does not have exactly one DPoP header',
    meaning: 'A request with a bound token has one `DPoP` header with one proof (RFC 9449 4.3).',
    application:
      'Send the proof in one `DPoP` header; at an API, together with `Authorization: DPoP <token>`.',
  },
  dpop_proof_missing: {
    title: 'The application must prove its key',
    meaning:
      'The application is registered for tokens that are bound to a key (`dpop_bound_access_tokens`, RFC 9449 5.2). Its token requests need a `DPoP` header.',
    application: USE_A_LIBRARY,
    operator: 'See whether the application must prove a key.',
    commands: ['client show {client_id}'],
  },
  proof_limit_exceeded: {
    title: 'Too many proofs of public clients come from this address',
    meaning:
      'Each proof is stored until it expires, so that it works once. An address (IPv6: a /48) may send 2000 in this time with public clients.',
    application: 'Wait as long as `Retry-After` says.',
    platform: 'If every client has the same address, `TRUSTED_PROXIES` does not name the proxy.',
  },
  dpop_proof_too_long: {
    title: 'The proof is too long',
    meaning: 'A proof has several hundred characters, or about 1800 with a large RSA key.',
    application: 'Remove what does not belong there, such as a certificate chain.',
  },
  dpop_proof_malformed: {
    title: 'The proof is not a JWT',
    meaning:
      'A proof is a compact JWT: three base64url parts, without `crit` in its header, with a JSON object as payload.',
    application: USE_A_LIBRARY,
  },
  dpop_claim_missing: {
    title: 'A claim of the proof is missing',
    meaning: 'A proof has `jti`, `htm`, `htu` and `iat`; at an API also `ath` (RFC 9449 4.2).',
    application: USE_A_LIBRARY,
  },
  dpop_typ_mismatch: {
    title: 'The typ of the proof is wrong',
    meaning: 'The header has `"typ":"dpop+jwt"`, so that no other JWT passes as a proof.',
    application: 'Set `typ` in the protected header.',
  },
  dpop_alg_unsupported: {
    title: 'The algorithm of the proof is not accepted',
    meaning:
      'The metadata lists the accepted algorithms as `dpop_signing_alg_values_supported`. Symmetric algorithms, `RS256` and `none` are never accepted.',
    application: 'Make the key for one of them; `ES256` is the usual choice.',
  },
  dpop_jwk_invalid: {
    title: 'The public key of the proof is unusable',
    meaning:
      'The header carries the public key as `jwk`, of the type that `alg` needs and of at least 2048 bits for RSA.',
    application: 'Export the public key only. A key whose private part was sent must be replaced.',
  },
  dpop_signature_mismatch: {
    title: 'The signature of the proof does not verify',
    meaning: 'The proof was not signed by the private key of its `jwk`.',
    application: 'Export the `jwk` of the key pair that signs. ECDSA signatures are `r ‖ s`, not DER.',
  },
  dpop_htm_mismatch: {
    title: 'The proof is for another method',
    meaning: 'The claim `htm` is the method of the request, in upper case.',
    application: 'Make a new proof for each request, with its own method.',
  },
  dpop_htu_mismatch: {
    title: 'The proof is for another address',
    meaning: 'The claim `htu` is the public address of the request, without query and fragment.',
    application: 'Use the address of the metadata, not one of an internal proxy.',
    platform: 'If it is right, `BASE_URL` or `API_URL` is not the address that clients use.',
  },
  dpop_nonce_unknown: {
    title: 'The nonce of the proof is not from this service',
    meaning: 'The claim `nonce` is the value of the latest `DPoP-Nonce` header, or absent.',
    application: 'Repeat the request with the nonce of the `DPoP-Nonce` header.',
  },
  dpop_nonce_missing: {
    title: 'The proof needs a nonce',
    meaning:
      'This service requires its nonce in each proof (RFC 9449 8). The first request of an application gets this error.',
    application:
      'Repeat the request with the value of the `DPoP-Nonce` header. Libraries do this automatically.',
  },
  dpop_nonce_expired: {
    title: 'The nonce of the proof is too old',
    meaning: 'A nonce is valid for some minutes (RFC 9449 8).',
    application: 'Repeat the request with the value of the `DPoP-Nonce` header, and use that from now on.',
  },
  dpop_iat_out_of_range: {
    title: 'The proof is too old, or from the future',
    meaning: 'The claim `iat` is the time of the request, in seconds. A proof is valid for some minutes.',
    application: 'Make a new proof for each request, and set the clock of the machine (NTP).',
    platform: 'If all applications fail, the clock of a server is wrong.',
  },
  dpop_ath_mismatch: {
    title: 'The proof is for another access token',
    meaning: 'At an API the claim `ath` is base64url of the SHA-256 of the access token.',
    application: 'Compute it from the access token of the same request.',
  },
  dpop_jti_invalid: {
    title: 'The proof has no usable identifier',
    meaning:
      'The claim `jti` is a unique string of at most 256 characters, because each proof is accepted once.',
    application: 'Use a random value, such as a UUID, for each proof.',
  },
  dpop_proof_replayed: {
    title: 'The proof was used before',
    meaning: 'A proof is accepted once (RFC 9449 11.1).',
    application: 'Make a new proof for each request, and for each retry as well.',
  },
} as const satisfies CheckEntries<CheckOf<ProofReasons>>;

const INVALID = 'invalid DPoP proof:';
const NONCE_NEEDED = 'the proof needs the nonce of the DPoP-Nonce header: repeat the request with it';

export const PROOF_DESCRIPTIONS: Descriptions<ProofReasons> = {
  'dpop_header_invalid.missing': `${INVALID} the DPoP header is missing`,
  'dpop_header_invalid.repeated': `${INVALID} there is more than one DPoP header`,
  dpop_proof_missing: 'this client must prove its key: send a DPoP header',
  proof_limit_exceeded: ({ retryAfter }) =>
    `too many proofs of public clients come from this address; retry in ${retryAfter} s`,
  dpop_proof_too_long: ({ max }) => `${INVALID} the proof is longer than ${max} characters`,
  'dpop_proof_malformed.jwt': `${INVALID} it is not a well-formed JWT`,
  'dpop_proof_malformed.crit': `${INVALID} its header must not have crit`,
  'dpop_proof_malformed.payload': `${INVALID} its payload is not a JSON object`,
  dpop_claim_missing: `${INVALID} the claims htm, htu and iat are required`,
  dpop_typ_mismatch: `${INVALID} its typ must be dpop+jwt`,
  dpop_alg_unsupported: ({ algorithms }) => `${INVALID} its alg must be one of ${algorithms.join(', ')}`,
  'dpop_alg_unsupported.fapi': ({ algorithms }) =>
    `this client must sign its proofs with one of ${algorithms.join(', ')}`,
  dpop_jwk_invalid: ({ problem }) => `${INVALID} its jwk ${keyText(problem)}`,
  'dpop_jwk_invalid.missing': `${INVALID} its header must have the public key as jwk`,
  dpop_signature_mismatch: `${INVALID} its signature does not match the key in its jwk`,
  dpop_htm_mismatch: `${INVALID} the claim htm is not the method of this request`,
  dpop_htu_mismatch: `${INVALID} the claim htu is not the address of this request`,
  dpop_nonce_unknown: `${INVALID} the claim nonce was not issued by this server`,
  dpop_nonce_missing: NONCE_NEEDED,
  dpop_nonce_expired: NONCE_NEEDED,
  'dpop_iat_out_of_range.past': ({ max }) => `${INVALID} the proof is older than ${max} seconds`,
  'dpop_iat_out_of_range.future': `${INVALID} the claim iat is in the future: set the clock`,
  dpop_ath_mismatch: `${INVALID} the claim ath is not the SHA-256 of the access token`,
  'dpop_jti_invalid.missing': `${INVALID} the claim jti is missing`,
  'dpop_jti_invalid.too_long': ({ max }) => `${INVALID} the claim jti is longer than ${max} characters`,
  dpop_proof_replayed: 'the proof was used before: make one for each request',
};
