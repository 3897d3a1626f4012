import type { CheckOf, ServiceReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

const REPEAT =
  'Repeat the request after `Retry-After` seconds. A token or code that was sent is still valid.';

/** Requests refused to protect the service (`temporarily_unavailable`), or for its configuration (`server_error`). */
export const SERVICE_CHECKS = {
  event_loop_delayed: {
    title: 'The service is overloaded',
    meaning:
      'A process had more work than it could finish in time, and refused the request before it had any effect.',
    application: REPEAT,
    platform: 'Add replicas (docs/sizing.md); `oauth_overload_refusals_total` counts the refusals.',
    publishedAs: 'temporarily_unavailable',
  },
  event_loop_stalled: {
    title: 'A process stalled',
    meaning:
      'The process was stopped or starved of CPU for some seconds, and refuses the requests that waited.',
    application: REPEAT,
    platform: 'Look for CPU limits, paused containers and snapshots of the machine at that time.',
    publishedAs: 'temporarily_unavailable',
  },
  request_unconfirmed: {
    title: 'The service does not know if the code or token was used',
    meaning:
      'Redis did not answer the request in time, and neither did NATS, which tells the other processes that the request failed. If Redis has executed the request, a second one counts as a replay.',
    application:
      'Send the user through the authorization again. If consent is remembered, the user sees no page.',
    platform: 'The log line names the cause. Find out why Redis and NATS failed at the same time.',
  },
  password_queue_full: {
    title: 'Too many concurrent logins',
    meaning: 'Password hashing is slow on purpose. The queue of one process was full.',
    user: 'Try again in a moment.',
    platform: 'Add replicas of the authorize app, or look for a flood of logins.',
    publishedAs: 'temporarily_unavailable',
  },
  id_token_key_missing: {
    title: 'There is no key for the ID tokens of the application',
    meaning:
      'The application is registered for an algorithm (`id_token_signed_response_alg`) that `ID_TOKEN_KEYS` has no key for. The code was not redeemed.',
    platform: 'Add a key for the algorithm to `ID_TOKEN_KEYS`.',
    operator: 'Or register another algorithm.',
    commands: ['client update {client_id} --id-token-alg RS256'],
    publishedAs: 'server_error',
  },
} as const satisfies CheckEntries<CheckOf<ServiceReasons>>;

const UNAVAILABLE = 'the service is temporarily unavailable: repeat the request in a moment';
const FAILED = 'the service failed on this request: report the error_reference to its operator';

export const SERVICE_DESCRIPTIONS: Descriptions<ServiceReasons> = {
  temporarily_unavailable: UNAVAILABLE,
  server_error: FAILED,
  request_unconfirmed: ({ credential }) =>
    `the service failed, and the ${credential} may have been used: ask the user to authorize again`,
  password_queue_full: UNAVAILABLE,
  id_token_key_missing: FAILED,
};
