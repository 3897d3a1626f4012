import { ENDPOINTS } from '#oauth/endpoints.js';
import type { OAuthErrorCode } from '#oauth/error-code.js';
import { type HeaderDescription, json, type ResponseDescription } from './operation.js';
import { ApiProperty } from './schema.js';

/** RFC 6749 5.2. */
export class OAuthErrorBody {
  @ApiProperty({ description: 'Error code. Compare this, not the description.' })
  readonly error: string;

  @ApiProperty({ description: 'Explanation for the developer.' })
  readonly error_description: string;

  @ApiProperty({
    format: 'uri',
    optional: true,
    description:
      'Page that explains the error. Absent in a response from a proxy, or if the request was not valid HTTP.',
  })
  readonly error_uri?: string;

  @ApiProperty({
    description:
      'Reference for the operator, who can find the failed check. Absent only if the request was not valid HTTP.',
  })
  readonly error_reference: string;
}

/** Causes of errors at the endpoints of the token app. */
const CAUSES: Readonly<Partial<Record<OAuthErrorCode, readonly [cause: string, example: string]>>> = {
  invalid_request: [
    'a parameter is missing, repeated, malformed or too long',
    "the parameter 'client_id' is missing",
  ],
  invalid_client: ['unknown client, or wrong secret', 'unknown client, or a wrong client_secret'],
  invalid_grant: [
    'the code or token is invalid, expired, revoked, already used, or was issued to another client or key',
    'the code has expired; ask the user to authorize again',
  ],
  unsupported_response_type: ['a `response_type` other than `code`', 'the only response_type is code'],
  unsupported_grant_type: [
    'an unsupported `grant_type`',
    "the parameter 'grant_type' must be authorization_code or refresh_token",
  ],
  invalid_scope: [
    'a scope that does not exist, that the client is not registered for, or that was not granted',
    "the parameter 'scope' asks for more than the user granted",
  ],
  invalid_target: [
    'a `resource` that is not an API of this service, or that the authorization request did not name',
    "the parameter 'resource' names an API that the authorization request did not name",
  ],
  invalid_dpop_proof: [
    'an invalid proof, or one that was used before',
    'the proof was used before: sign a new one',
  ],
  use_dpop_nonce: [
    'the proof must contain the nonce from the `DPoP-Nonce` header',
    'the proof needs the nonce of the DPoP-Nonce header: repeat the request with it',
  ],
  temporarily_unavailable: [
    'repeat the request after `Retry-After` seconds',
    'the service is temporarily unavailable: repeat the request in a moment',
  ],
  server_error: [
    'an internal error',
    'the service failed on this request: report the error_reference to its operator',
  ],
};

export const RETRY_AFTER: HeaderDescription = {
  description: 'Seconds to wait before the next attempt.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

/** RFC 9110 12.5.3. */
export const ACCEPT_ENCODING: HeaderDescription = {
  description: '`identity`, if the body had a content coding.',
};

/** RFC 6749 5.2. */
const CHALLENGE: HeaderDescription = {
  description: 'Challenge for HTTP Basic, if the request used it.',
};

/** RFC 9449 8.2. */
export const DPOP_NONCE: HeaderDescription = {
  description: 'Nonce for the next proof, if this server requires nonces and the request has a proof.',
};

const TOO_LARGE = 'the body is larger than 64 KiB';
const WRONG_TYPE = 'send application/x-www-form-urlencoded or application/json';

/** Errors of every endpoint of the token app that reads a body. */
const OF_EVERY_POST: Readonly<Record<number, readonly OAuthErrorCode[]>> = {
  413: ['invalid_request'],
  415: ['invalid_request'],
  429: ['temporarily_unavailable'],
  500: ['server_error'],
  503: ['temporarily_unavailable'],
};

const TITLES: Readonly<Record<number, string>> = {
  401: 'The client is not authenticated',
  413: `Too large: ${TOO_LARGE}`,
  415: `Unsupported media type: ${WRONG_TYPE}`,
  429: 'Too many requests from this client or address',
  500: 'Internal error',
  503: 'A dependency is unavailable, or the service is overloaded',
};

/**
 * Returns the error responses of an endpoint that reads a body.
 * @param errors additional error codes by status
 */
export function oauthErrors(
  errors: Readonly<Record<number, readonly OAuthErrorCode[]>>,
  headers: Readonly<Record<string, HeaderDescription>> = {},
): Record<number, ResponseDescription> {
  const all = Object.entries({ ...OF_EVERY_POST, ...errors });
  return Object.fromEntries(all.map(([status, codes]) => [status, response(Number(status), codes, headers)]));
}

/** Errors of an endpoint without a body: too many requests, overload. */
export const OAUTH_BUSY: Readonly<Record<number, ResponseDescription>> = {
  429: response(429, ['temporarily_unavailable'], {}),
  503: response(503, ['temporarily_unavailable'], {}),
};

function response(
  status: number,
  codes: readonly OAuthErrorCode[],
  more: Readonly<Record<string, HeaderDescription>>,
): ResponseDescription {
  const headers = {
    ...(status === 401 && { 'WWW-Authenticate': CHALLENGE }),
    ...(status === 415 && { 'Accept-Encoding': ACCEPT_ENCODING }),
    ...((status === 429 || status === 503) && { 'Retry-After': RETRY_AFTER }),
    ...more,
  };
  const causes = codes.map((code) => `\`${code}\`: ${causeOf(code)[0]}`);
  const text: Readonly<Record<number, string>> = { 413: TOO_LARGE, 415: WRONG_TYPE };
  const examples = codes.map((code) => [
    code,
    {
      error: code,
      error_description: text[status] ?? causeOf(code)[1],
      error_uri: `https://base.example.com${ENDPOINTS.errors}#${code}`,
      error_reference: 'dhdpfs_iGBYa',
    },
  ]);
  const withNonce = 'DPoP-Nonce' in more ? 'WithNonce' : '';
  return {
    // The error codes of 400 differ between endpoints.
    ...(status !== 400 && { name: `OAuthError${status}${withNonce}` }),
    description: TITLES[status] ?? causes.join('; '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: json(
      { allOf: [OAuthErrorBody, { properties: { error: { enum: codes } } }] },
      Object.fromEntries(examples) as Record<string, unknown>,
    ),
  };
}

function causeOf(code: OAuthErrorCode): readonly [cause: string, example: string] {
  return CAUSES[code] ?? ['', ''];
}
