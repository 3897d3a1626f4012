import { ENDPOINTS } from '#oauth/endpoints.js';
import { RETRY_AFTER } from '#openapi/oauth-errors.js';
import { type HeaderDescription, json, type ResponseDescription } from '#openapi/operation.js';
import { ApiProperty } from '#openapi/schema.js';

class ApiErrorDetail {
  @ApiProperty({ description: 'Name of the status. `WWW-Authenticate` has the OAuth error.' })
  readonly code: string;

  @ApiProperty({ description: 'Explanation for the developer.' })
  readonly message: string;
}

class ApiErrorBody {
  @ApiProperty({ type: 'string', const: 'error', description: 'Distinguishes an error from a response.' })
  readonly status: 'error';

  @ApiProperty({ format: 'date-time', description: 'When the request was refused.' })
  readonly timestamp: string;

  @ApiProperty({ description: 'Path of the request.' })
  readonly path: string;

  @ApiProperty({ allOf: [ApiErrorDetail], description: 'The error.' })
  readonly error: ApiErrorDetail;
}

const CHALLENGE: HeaderDescription = {
  description:
    'Challenge with the error code of RFC 6750 3.1 or RFC 9449 7.1, the `scope` (RFC 6750 3), and `resource_metadata` (RFC 9728 5.1).',
  required: true,
};

/** Optional header, because an overloaded process or a proxy does not send it. */
const ERROR_REFERENCE: HeaderDescription = {
  description: 'Identifies the request in the log: give it to the operator.',
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
    'an access token is required: Authorization: Bearer <access token>',
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
    'Internal error of this service.',
    'the service failed on this request: report the error_reference to its operator',
  ],
  503: [
    'SERVICE_UNAVAILABLE',
    'The token cannot be checked now, or the service is overloaded.',
    'the token cannot be checked right now; retry in a moment',
  ],
} as const;

export const NONCE: HeaderDescription = {
  description: 'Nonce for the next proof, if nonces are required (RFC 9449 9).',
};

export function apiErrors(
  ...statuses: readonly (keyof typeof ERRORS)[]
): Record<number, ResponseDescription> {
  const responses = statuses.map((status): [number, ResponseDescription] => {
    const [code, description, message] = ERRORS[status];
    const headers = {
      'Error-Reference': ERROR_REFERENCE,
      // A malformed request, such as one with two Host headers, gets 400 without a challenge.
      ...(status <= 403 && {
        'WWW-Authenticate': { ...CHALLENGE, required: status !== 400 },
        'DPoP-Nonce': NONCE,
      }),
      ...((status === 429 || status === 503) && { 'Retry-After': RETRY_AFTER }),
    };
    const example = {
      status: 'error',
      timestamp: '2026-01-01T12:00:00.000Z',
      path: ENDPOINTS.me,
      error: { code, message },
    };
    const content = json(ApiErrorBody, { [code]: example });
    return [status, { name: `ApiError${status}`, description, headers, content }];
  });
  return Object.fromEntries(responses);
}
