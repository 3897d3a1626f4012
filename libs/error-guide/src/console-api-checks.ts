import type { CheckEntries } from './guide-entry.js';

/** Requests to the HTTP API of the console, and conditions of its pages. */
export const CONSOLE_API_CHECKS = {
  address_malformed: {
    title: 'The address contains a NUL character',
    meaning: 'No id or search contains this character.',
    application: 'Remove `%00` from the address.',
  },
  if_match_missing: {
    title: 'If-Match is missing',
    meaning:
      'A change names the version that it is based on, so that it undoes no concurrent change (RFC 6585 3).',
    application:
      'Read the resource, and send its `ETag` as `If-Match`; or send `If-Match: *` to change any version.',
  },
  if_match_too_long: {
    title: 'If-Match has too many entity tags',
    meaning: 'Each entity tag is a separate attempt to make the change.',
    application: 'Send the `ETag` of the version that you have read.',
  },
  condition_unsupported: {
    title: 'The operation does not evaluate this condition',
    meaning: 'Ignoring a condition could make a change that the caller did not want (RFC 9110 13.1).',
    application: 'Send only the conditions that the OpenAPI description of the operation lists.',
  },
  not_acceptable: {
    title: 'No media type of the response is acceptable',
    meaning: 'The header `Accept` excludes every media type that the operation returns (RFC 9110 12.5.1).',
    application: 'Send the media type that the problem names, or leave `Accept` out.',
  },
  media_type_unsupported: {
    title: 'The operation does not accept this media type',
    meaning: 'The `Content-Type` of the body is not one that the operation describes (RFC 9110 15.5.16).',
    application: 'Send a media type of the header `Accept` of the response.',
  },
  reports_running: {
    title: 'Too many reports of one operator are running',
    meaning: 'A report reads much of the audit trail, so that one operator can run only a few at a time.',
    application: 'Wait for a running report to end, and repeat the request.',
  },
  idempotency_key_reused: {
    title: 'The idempotency key belongs to another request',
    meaning: 'The key, or the form, was sent before with other content.',
    application: 'Generate a new key for each request, and repeat a request with its own key.',
  },
  idempotent_request_running: {
    title: 'The first request with this idempotency key is running',
    meaning: 'The result will be the response to both requests.',
    application: 'Repeat the request after the seconds in `Retry-After`.',
  },
  idempotent_result_unknown: {
    title: 'The result of the first request is unknown',
    meaning:
      'The process ended before it stored the result of the request with this key, which may have made the change.',
    application: 'Read the list. If the change was not made, send the request with a new key.',
  },
  rate_limited: {
    title: 'Too many requests',
    meaning: 'The response has the limit in `RateLimit-Policy`.',
    application: 'Repeat the request after the seconds in `Retry-After`.',
  },
} as const satisfies CheckEntries;
