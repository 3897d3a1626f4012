import { quoted } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

/** Problems of the configuration of an event stream. */
export const EVENT_PROBLEMS = {
  event_unknown: {
    text: ({ values: { jti } }) => `there is no event ${quoted(jti)}: it may be older than two weeks`,
    next: () => ({ text: 'See', command: ['event', 'list'] }),
  },
  flow_step_early: () => 'the step needs the result of an earlier one',
  refused_request_unknown: ({ values: { id } }) => `there is no refused request ${quoted(id)}`,
  event_waits: ({ values: { jti } }) => `the event ${jti} still waits for its receiver`,
  receiver_url_invalid: ({ field }) =>
    `${field} must be an https URL without a user name and without a fragment, of at most 2,000 characters`,
  receiver_header_invalid: ({ field }) => `${field} must be the value of an Authorization header`,
  event_stream_missing: {
    text: ({ values: { clientId } }) => `${quoted(clientId)} has no event stream`,
    next: ({ clientId }) => ({
      text: 'Register its receiver',
      command: ['client', 'update', clientId, '--events-url', 'https://…'],
    }),
  },
  event_types_missing: ({ field, values: { known } }) => `${field} must name events: ${known.join(', ')}`,
  event_type_unknown: ({ field, values: { given, known } }) =>
    `${field} has no event ${quoted(given)}: use ${known.join(', ')}`,
  events_invalid: ({ field, values: { max } }) => `${field} must be a list of at most ${max} URIs`,
  description_invalid: ({ field, values: { max } }) => `${field} must be a text of at most ${max} characters`,
  verification_state_invalid: ({ field, values: { max } }) =>
    `${field} must be a text of at most ${max} characters`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
