import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { RETRY_AFTER } from '#openapi/oauth-errors.js';
import type { HeaderDescription, ResponseDescription } from '#openapi/operation.js';
import type { OperationRules } from './operation-rules.js';
import { list, number, object, text } from './schemas.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** Headers of draft-ietf-httpapi-ratelimit-headers; absent if a request is rejected before it is counted. */
export const RATE_LIMIT_HEADERS: Readonly<Record<string, HeaderDescription>> = {
  'RateLimit-Policy': { description: 'Requests `q` in `w` seconds.' },
  RateLimit: { description: 'Requests that remain, and seconds until all are available again.' },
};

const PROBLEM = object(
  'Problem',
  { type: text, title: text, status: number, id: text, detail: text, error_reference: text },
  {
    errors: list(object('ProblemDetail', { id: text, detail: text }, { pointer: text, parameter: text })),
  },
);

const CAUSES: Readonly<Record<number, string>> = {
  400: 'The request is malformed, or breaks rules, which `errors` lists.',
  401: 'No access token, or one that is not valid here (RFC 6750 3.1).',
  403: 'The token lacks the scope (RFC 6750 3.1).',
  404: 'There is no such resource.',
  405: 'The path does not support the method.',
  406: 'The response has a media type that `Accept` excludes.',
  409: 'The stored state does not permit the change; or the first request with this `Idempotency-Key` has not finished.',
  412: 'A condition does not hold, because the resource has changed: read it again (RFC 9110 13.1).',
  413: `The body is larger than 64 KiB, or the logo larger than ${MAX_LOGO_BYTES / 1024} KiB.`,
  415: 'The operation does not accept the media type of the body, or its content coding.',
  422: 'The `Idempotency-Key` belongs to another request.',
  428: '`If-Match` is missing (RFC 6585 3).',
  429: 'Too many requests of this client.',
  500: 'Internal error.',
  503: 'A service does not answer.',
};

/** Returns the detail of a problem that has no other text. */
export function causeOf(status: number): string {
  return CAUSES[status] ?? CAUSES[status < 500 ? 400 : 500] ?? '';
}

export function problemResponses(
  method: string,
  { needsVersion = false }: OperationRules,
): Record<number, ResponseDescription> {
  const statuses = [400, 401, 403, 404, 406, 409, 412, 429, 500, 503];
  if (method !== 'get') statuses.push(413, 415);
  if (needsVersion) statuses.push(428);
  if (method === 'post') statuses.push(422);
  return Object.fromEntries(statuses.map((status) => [status, problemResponse(status)]));
}

export function problemResponse(status: number): ResponseDescription {
  return {
    name: `Problem${status}`,
    description: CAUSES[status] ?? '',
    headers: {
      ...RATE_LIMIT_HEADERS,
      ...([400, 401, 403, 429].includes(status) && {
        'WWW-Authenticate': { description: 'Challenge (RFC 6750 3).', required: status === 401 },
      }),
      ...([409, 429, 503].includes(status) && {
        'Retry-After': { ...RETRY_AFTER, required: status === 429 },
      }),
      ...(status === 415 && {
        Accept: { description: 'Accepted media types, if the body has another one.' },
        'Accept-Encoding': { description: '`identity`, if the body had a content coding.' },
      }),
    },
    content: { [PROBLEM_TYPE]: { schema: PROBLEM } },
  };
}
