import type { CheckOf, ParameterProblem, RequestReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
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
} as const satisfies CheckEntries<CheckOf<RequestReasons>>;

const PARAMETER_PROBLEMS: Readonly<Record<Extract<ParameterProblem['problem'], string>, string>> = {
  missing: 'is missing',
  not_single: 'must be a single string, and not be repeated',
  not_printable_ascii: 'contains a character that is not printable ASCII',
  repeated: 'is repeated',
  undecodable: 'is not valid percent-encoded UTF-8',
  not_text: 'must be a single string, not an array or an object',
  not_unicode: 'is not valid Unicode',
  control_character: 'contains a control character',
};

function parameterProblem({ parameter, problem }: ParameterProblem): string {
  const text =
    typeof problem === 'string' ? PARAMETER_PROBLEMS[problem] : `is longer than ${problem.max} characters`;
  return `the parameter '${parameter}' ${text}`;
}

export const REQUEST_DESCRIPTIONS: Descriptions<RequestReasons> = {
  invalid_request: 'the request is malformed',
  'invalid_request.refused': ({ description }) => description,
  method_not_allowed: ({ description }) => description,
  not_found: 'there is nothing at this path',
  'not_found.image': 'image not found',
  'not_found.openid_provider': 'this service is not an OpenID provider',
  parameter_invalid: ({ problems }) => problems.map(parameterProblem).join('; '),
  'parameter_invalid.too_many': ({ max }) => `there are more than ${max} parameters`,
  'parameter_invalid.state_too_long': ({ max }) =>
    `the parameter 'state' is longer than ${max} bytes when it is percent-encoded`,
  'parameter_invalid.query_too_long': ({ max }) =>
    `the parameters have more than ${max} characters: push the request`,
  'parameter_invalid.refresh_token_too_long': ({ max }) =>
    `the refresh token is longer than ${max} characters`,
  'body_malformed.json_as_form':
    'the body is JSON, but its Content-Type is application/x-www-form-urlencoded: send application/json',
  'body_malformed.json_at_form_endpoint':
    'the body is JSON, but its Content-Type is application/x-www-form-urlencoded: this endpoint accepts only forms, like a=1&b=2',
  'body_malformed.undecodable': 'the parameters are not valid percent-encoded UTF-8',
  'body_malformed.not_json':
    'the body is not valid JSON: the Content-Type of a form is application/x-www-form-urlencoded',
  'body_malformed.not_object': 'the body must be a JSON object',
  'body_malformed.repeated_name': 'a parameter is repeated',
  body_too_large: 'the body is larger than 64 KiB',
  content_type_unsupported: 'send application/x-www-form-urlencoded or application/json',
  authorization_header_malformed: 'the Authorization header must be: Bearer <refresh token>',
  refresh_token_missing:
    'the refresh token is missing: send it as Authorization: Bearer <refresh token>, or as refresh_token in the body',
  refresh_token_repeated: 'the refresh token was sent twice: in the Authorization header and in the body',
  code_verifier_malformed: "the parameter 'code_verifier' must be 43 to 128 of A-Z a-z 0-9 - . _ ~",
};
