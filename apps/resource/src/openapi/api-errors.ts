import { RETRY_AFTER } from '#openapi/oauth-errors.js';
import { type HeaderDescription, json, type ResponseDescription } from '#openapi/operation.js';
import { ApiProperty } from '#openapi/schema.js';

/** What went wrong. */
class ApiErrorDetail {
  @ApiProperty({ description: 'Name of the status. `WWW-Authenticate` says more.' })
  readonly code: string;

  @ApiProperty({ description: 'What is wrong, for the developer.' })
  readonly message: string;
}

/** An error in the shape of the product's API. */
class ApiErrorBody {
  @ApiProperty({ type: 'string', const: 'error', description: 'Tells an error from an answer.' })
  readonly status: 'error';

  @ApiProperty({ format: 'date-time', description: 'When the request was refused.' })
  readonly timestamp: string;

  @ApiProperty({ description: 'Path of the request.' })
  readonly path: string;

  @ApiProperty({ allOf: [ApiErrorDetail], description: 'What went wrong.' })
  readonly error: ApiErrorDetail;
}

const CHALLENGE: HeaderDescription = {
  description:
    'Challenge with the error code of RFC 6750 3.1 or RFC 9449 7.1, the `scope` (RFC 6750 3), and `resource_metadata` (RFC 9728 5.1).',
  required: true,
};

/** An overloaded process and a proxy answer without it. */
const ERROR_REFERENCE: HeaderDescription = {
  description: 'Give it to the operator, who finds the failed check by it.',
};

const ERRORS = {
  400: [
    'BAD_REQUEST',
    'The `Authorization` header is malformed.',
    'the Authorization header must be: Bearer <access token>',
  ],
  401: [
    'UNAUTHORIZED',
    'No token; or `invalid_token`, `invalid_dpop_proof`, `use_dpop_nonce` in the challenge.',
    'an access token is needed: Authorization: Bearer <access token>',
  ],
  403: [
    'FORBIDDEN',
    'The token lacks the scope: `insufficient_scope` in the challenge.',
    'the access token needs the scope profile:read: ask the user to authorize again with it',
  ],
  429: [
    'TOO_MANY_REQUESTS',
    'Too many requests from this address.',
    'too many requests from this address: try again later',
  ],
  500: [
    'INTERNAL_SERVER_ERROR',
    'An error of this service.',
    'the service failed on this request: report the error_reference to its operator',
  ],
  503: [
    'SERVICE_UNAVAILABLE',
    'The token cannot be checked now, or the service is overloaded.',
    'the token cannot be checked just now, repeat the request in a moment',
  ],
} as const;

/**
 * The error answers of an endpoint.
 *
 * @param headers of the refusals of a token
 */
export function apiErrors(
  path: string,
  statuses: readonly (keyof typeof ERRORS)[],
  headers: Readonly<Record<string, HeaderDescription>> = {},
): Record<number, ResponseDescription> {
  const responses = statuses.map((status) => {
    const [code, description, message] = ERRORS[status];
    const ofStatus = {
      'Error-Reference': ERROR_REFERENCE,
      // A malformed request, such as one with two Host headers, gets 400 without a challenge.
      ...(status <= 403 && { 'WWW-Authenticate': { ...CHALLENGE, required: status !== 400 }, ...headers }),
      ...((status === 429 || status === 503) && { 'Retry-After': RETRY_AFTER }),
    };
    const example = {
      status: 'error',
      timestamp: '2026-01-01T12:00:00.000Z',
      path,
      error: { code, message },
    };
    return [status, { description, headers: ofStatus, content: json(ApiErrorBody, { [code]: example }) }];
  });
  return Object.fromEntries(responses) as Record<number, ResponseDescription>;
}
