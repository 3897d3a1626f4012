import { ASSERTION_TYPE } from '#oauth/client-assertion/client-assertion.js';
import type { CheckOf, AssertionReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

const USE_A_LIBRARY =
  'Let a library make the assertion: `PrivateKeyJwt` of `openid-client`, or `private_key_jwt` in the settings of yours.';

/** Client authentication by a signed assertion (RFC 7523, `private_key_jwt`). */
export const ASSERTION_CHECKS = {
  client_assertion_missing: {
    title: 'The client assertion is missing',
    meaning:
      'The application is registered with public keys: it authenticates with a signed `client_assertion` at every token endpoint (RFC 7523 2.2).',
    application: ['Send `client_assertion` and `client_assertion_type` in the body.', USE_A_LIBRARY],
  },
  client_assertion_unexpected: {
    title: 'The application has no keys',
    meaning:
      'The request has a `client_assertion`, but the application is registered with a secret, or is a public client: no key could verify the assertion.',
    application: 'Use the method that the operator registered: the client secret, or none.',
    operator: 'See how the application authenticates.',
    commands: ['client show {client_id}'],
  },
  client_secret_forbidden: {
    title: 'An application with keys sent a secret',
    meaning:
      'The application is registered with public keys and has no secret. An application authenticates either with keys or with a secret.',
    application: 'Remove the secret, and send a `client_assertion`.',
    operator: 'See how the application authenticates.',
    commands: ['client show {client_id}'],
  },
  client_assertion_type_unsupported: {
    title: 'The type of the client assertion is not accepted',
    meaning:
      '`client_assertion` and `client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer` must be sent together (RFC 7523 2.2).',
    application: 'Send both parameters. SAML assertions are not supported.',
  },
  client_assertion_malformed: {
    title: 'The client assertion is not a plain signed JWT',
    meaning:
      'An assertion is a compact JWT of three base64url parts. Its header and payload are JSON objects without repeated names; the header has no `crit`, and no key (`jwk`, `jku`, `x5u`, `x5c`).',
    application: USE_A_LIBRARY,
  },
  client_assertion_alg_unsupported: {
    title: 'The algorithm of the client assertion is not accepted',
    meaning:
      'The metadata lists the accepted algorithms as `token_endpoint_auth_signing_alg_values_supported`. `none` and HMAC (`HS256`) are never accepted.',
    application: 'Sign with the private key of a registered public key: `ES256` or `PS256`.',
  },
  client_assertion_issuer_mismatch: {
    title: 'The client assertion is not from the application itself',
    meaning: 'Its claims `iss` and `sub` are both the `client_id` (RFC 7523 3).',
    application: 'Set both to the `client_id`.',
  },
  client_assertion_audience_mismatch: {
    title: 'The client assertion is for another server',
    meaning:
      'Its claim `aud` is the issuer of this service, as the metadata gives it. The URL of the token endpoint, or of the called endpoint, is accepted as well, except from a FAPI 2.0 client (5.3.2.1).',
    application: 'Set `aud` to the `issuer` of the metadata, as a single string without a trailing slash.',
    platform: 'If it is right, `BASE_URL` is not the address that clients use.',
  },
  client_assertion_expired: {
    title: 'The client assertion has expired',
    meaning: 'Its claim `exp` is required: seconds since 1970, a minute ahead is usual.',
    application: 'Make a new assertion for each request, and set the clock of the machine (NTP).',
    platform: 'If all applications fail, the clock of a server is wrong.',
  },
  client_assertion_lifetime_exceeded: {
    title: 'The client assertion is valid for too long',
    meaning:
      'Its claim `exp` is at most ten minutes ahead, because a stolen assertion can be used until then.',
    application: 'Let it expire after a minute: it is used once.',
  },
  client_assertion_not_yet_valid: {
    title: 'The client assertion is from the future',
    meaning: 'Its claims `iat` and `nbf` are times in seconds, and not later than now.',
    application: 'Set the clock of the machine (NTP).',
    platform: 'If all applications fail, the clock of a server is wrong.',
  },
  client_assertion_jti_invalid: {
    title: 'The client assertion has no usable identifier',
    meaning:
      'The claim `jti` is a unique string of at most 256 characters, because each assertion is accepted once.',
    application: 'Use a random value, such as a UUID, for each assertion.',
  },
  client_assertion_key_mismatch: {
    title: 'The application is unknown, or none of its keys signed the assertion',
    meaning:
      'No application has this `client_id` and a public key that verifies the assertion. The response does not say which is wrong.',
    application: [
      'Compare the `client_id` with your registration, and sign with the key that you registered.',
      'After a rotation, publish the new public key before you sign with it.',
    ],
  },
  client_assertion_key_unknown: {
    title: 'The application has no key for the assertion',
    meaning:
      'None of the application’s keys has the `kid` of the assertion, or the type that its `alg` needs. A set at a `jwks_uri` is fetched again for a new `kid`, but not more than twice a minute.',
    application:
      'Before you sign with a new key, send the operator a JWK Set that has it, or publish it at your `jwks_uri` and wait a minute.',
    operator: 'Compare the keys with those of the application.',
    commands: ['client show {client_id}'],
    publishedAs: 'client_assertion_key_mismatch',
  },
  client_assertion_signature_mismatch: {
    title: 'The signature of the client assertion does not verify',
    meaning:
      'None of the application’s keys that match the header signed the assertion, or the assertion was changed.',
    application:
      'Sign with the private key of a registered public key. ECDSA signatures are `r ‖ s`, not DER.',
    operator: 'Compare the keys with those of the application.',
    commands: ['client show {client_id}'],
    publishedAs: 'client_assertion_key_mismatch',
  },
  client_assertion_replayed: {
    title: 'The client assertion was used before',
    meaning: 'An assertion is accepted once, by its `jti` (RFC 7523 3).',
    application: 'Make a new assertion for each request, and for each retry as well.',
  },
  client_assertion_limit_exceeded: {
    title: 'The application has too many live assertions',
    meaning:
      'The service remembers each assertion until it expires, and a limited number for each application.',
    application: 'Let assertions expire after a minute. Repeat the request after `Retry-After`.',
  },
  client_keys_unavailable: {
    title: 'The keys of the application cannot be fetched',
    meaning:
      'The JWK Set at the `jwks_uri` of the application did not respond in five seconds with status 200 and at most 512 KiB, or its address is not public.',
    application: 'Serve the JWK Set at the registered address by https, without redirects.',
    operator:
      'Open the address. The log names the reason. If the host is yours and has a private address, set `OUTSIDE_FETCH_ALLOW`.',
    commands: ['client show {client_id}'],
  },
} as const satisfies CheckEntries<CheckOf<AssertionReasons>>;

const REFUSED = 'the client_assertion is not accepted:';
const NOT_SIGNED = 'unknown client, or a client_assertion that none of its keys signed';

export const ASSERTION_DESCRIPTIONS: Descriptions<AssertionReasons> = {
  client_assertion_missing:
    "the parameter 'client_assertion' is missing: this client authenticates with its keys",
  client_assertion_unexpected: 'this client has no keys: it must not send a client_assertion',
  client_secret_forbidden:
    'this client authenticates with its keys: send a client_assertion, and no client_secret',
  client_assertion_type_unsupported: `client_assertion needs the client_assertion_type ${ASSERTION_TYPE}, and neither is sent without the other`,
  'client_assertion_malformed.jwt': `${REFUSED} it is not a well-formed JWT`,
  'client_assertion_malformed.typ': `${REFUSED} its typ must be JWT, client-authentication+jwt or oauth-client-auth+jwt, or absent`,
  'client_assertion_malformed.crit': `${REFUSED} its header must not have crit`,
  'client_assertion_malformed.kid': `${REFUSED} its kid must be a text`,
  'client_assertion_malformed.key_header': ({ header }) =>
    `${REFUSED} its header must not have ${header}: the keys are those of the registration`,
  'client_assertion_malformed.not_object': ({ part }) => `${REFUSED} its ${part} is not a JSON object`,
  'client_assertion_malformed.repeated_name': ({ part }) => `${REFUSED} its ${part} repeats a name`,
  client_assertion_alg_unsupported: ({ algorithms }) =>
    `${REFUSED} its alg must be one of ${algorithms.join(', ')}`,
  client_assertion_issuer_mismatch: `${REFUSED} its iss and its sub must both be the client_id`,
  client_assertion_audience_mismatch: `${REFUSED} its aud must be the issuer of this service`,
  client_assertion_expired: `${REFUSED} it has expired: make one for each request, and set the clock`,
  'client_assertion_expired.exp': `${REFUSED} its exp must be a time in seconds`,
  client_assertion_lifetime_exceeded: ({ max }) => `${REFUSED} its exp must be at most ${max} seconds ahead`,
  client_assertion_not_yet_valid: ({ claim }) =>
    `${REFUSED} its ${claim} is not a time in the past: set the clock`,
  client_assertion_jti_invalid: ({ max }) =>
    `${REFUSED} its jti must be a unique text of 1 to ${max} characters`,
  client_assertion_key_unknown: NOT_SIGNED,
  client_assertion_signature_mismatch: NOT_SIGNED,
  client_assertion_replayed: 'the client_assertion was used before: make one for each request',
  client_assertion_limit_exceeded: ({ retryAfter }) =>
    `too many assertions that have not expired; retry in ${retryAfter} s`,
  client_keys_unavailable: "the keys at the client's jwks_uri cannot be fetched",
};
