import type { CheckEntries } from './guide-entry.js';

/** Checks of the form of a request, at every endpoint: `invalid_request`. */
export const REQUEST_CHECKS = {
  parameter_invalid: {
    title: 'A parameter is missing, repeated or malformed',
    meaning:
      'The description names the parameter and what is wrong. A parameter may be sent once, and has a maximum length.',
    application: [
      'Correct the parameter that the description names.',
      'Send parameters in the body: the token app ignores those in the URL.',
      'Print the request as it leaves your application: libraries often drop or rename a parameter.',
    ],
  },
  body_malformed: {
    title: 'The body cannot be read',
    meaning: 'The body is not a form or a JSON object in UTF-8, or a name occurs twice.',
    application:
      'Encode the body with a library: `URLSearchParams` for a form, `JSON.stringify` for JSON. Send the Content-Type of this encoding.',
  },
  body_too_large: {
    title: 'The body is too large',
    meaning: 'A request to this service has several hundred bytes. More than 64 KiB are refused.',
    application: 'Send only the parameters of the endpoint.',
  },
  content_type_unsupported: {
    title: 'The body has another media type',
    meaning: 'The service reads `application/x-www-form-urlencoded` and `application/json`.',
    application: 'Set `Content-Type` to the format of the body.',
  },
  content_encoding_unsupported: {
    title: 'The body is compressed',
    meaning: 'The request has `Content-Encoding`. The service reads uncompressed bodies only.',
    application: 'Send the body uncompressed, without `Content-Encoding`.',
  },
  host_header_invalid: {
    title: 'The request has no Host header, or several',
    meaning: 'An HTTP/1.1 request has exactly one (RFC 9112 3.2).',
    application: 'Use an HTTP library instead of a raw connection.',
    platform: 'Look for a proxy that adds a second header.',
  },
  authorization_header_malformed: {
    title: 'The Authorization header cannot be read',
    meaning: 'A scheme is followed by one space and one value, such as `Bearer <token>`.',
    application: 'Send the header as the description shows it, once.',
  },
  refresh_token_missing: {
    title: 'The refresh token is missing',
    meaning: 'The request has no refresh token in the Authorization header or in the body.',
    application: [
      'Send `Authorization: Bearer <refresh token>`, or `refresh_token` in the body.',
      'Check that you stored the refresh token of the latest response.',
    ],
  },
  refresh_token_repeated: {
    title: 'The refresh token was sent twice',
    meaning: 'The request has one in the Authorization header and one in the body (RFC 6750 2).',
    application: 'Send it in one place.',
  },
  code_verifier_malformed: {
    title: 'The code verifier is malformed',
    meaning: 'A verifier has 43 to 128 characters of `A-Z a-z 0-9 - . _ ~` (RFC 7636 4.1).',
    application: 'Create it with your OAuth library, or from 32 random bytes in base64url without padding.',
  },
} as const satisfies CheckEntries;
