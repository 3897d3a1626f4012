import { ENDPOINTS } from '#oauth/endpoints.js';
import type { OAuthErrorCode } from '#oauth/reasons.js';
import { ERROR_CODES } from '#error-guide/error-codes.js';
import { type HeaderDescription, json, type ResponseDescription } from './operation.js';
import { ApiProperty } from './schema.js';

export const RETRY_AFTER: HeaderDescription = {
  description: 'Seconds to wait before the next attempt.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

/** Accept-Encoding header of a 415 response (RFC 9110 12.5.3). */
export const ACCEPT_ENCODING: HeaderDescription = {
  description: '`identity`, if the body had a content coding.',
};

/** DPoP-Nonce header (RFC 9449 8.2). */
export const DPOP_NONCE: HeaderDescription = {
  description: 'Nonce for the next proof, if this server requires nonces and the request has a proof.',
};

/** Error response (RFC 6749 5.2). */
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

/** WWW-Authenticate header of a 401 response (RFC 6749 5.2). */
const CHALLENGE: HeaderDescription = {
  description: 'Challenge for HTTP Basic, if the request used it.',
};

const TOO_LARGE = 'the body is larger than 64 KiB';
const WRONG_TYPE = 'send application/x-www-form-urlencoded or application/json';

/** Errors of every endpoint of the token app that reads a body. */
const POST_ERRORS: Readonly<Record<number, readonly OAuthErrorCode[]>> = {
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

/** Error responses of an endpoint that reads a body. @param errors additional error codes by status */
export function oauthErrors(
  errors: Readonly<Record<number, readonly OAuthErrorCode[]>>,
  headers: Readonly<Record<string, HeaderDescription>> = {},
): Record<number, ResponseDescription> {
  const all = Object.entries({ ...POST_ERRORS, ...errors });
  return Object.fromEntries(all.map(([status, codes]) => [status, response(Number(status), codes, headers)]));
}

/** Responses to too many requests and under overload, for endpoints that do not read a body. */
export const OAUTH_BUSY: Readonly<Record<number, ResponseDescription>> = {
  429: response(429, ['temporarily_unavailable'], {}),
  503: response(503, ['temporarily_unavailable'], {}),
};

export const OAUTH_NOT_FOUND: Readonly<Record<number, ResponseDescription>> = {
  404: response(404, ['not_found'], {}),
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
  const causes = codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`);
  const text: Readonly<Record<number, string>> = { 413: TOO_LARGE, 415: WRONG_TYPE };
  const examples = codes.map((code) => [
    code,
    {
      error: code,
      error_description: text[status] ?? ERROR_CODES[code].example,
      error_uri: `https://base.example.com${ENDPOINTS.errors}#${code}`,
      error_reference: 'dhdpfs_iGBYa',
    },
  ]);
  const withNonce = 'DPoP-Nonce' in more ? 'WithNonce' : '';
  return {
    // The error codes of 400 differ between endpoints.
    ...(status !== 400 && { name: `OAuthError${status}${withNonce}` }),
    description: TITLES[status] ?? causes.join(' '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: json(
      { allOf: [OAuthErrorBody, { properties: { error: { enum: codes } } }] },
      Object.fromEntries(examples) as Record<string, unknown>,
    ),
  };
}
