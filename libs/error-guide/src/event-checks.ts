import type { CheckOf, EventReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

/** Event streams of applications (Shared Signals Framework 1.0), and the delivery of events. */
export const EVENT_CHECKS = {
  event_token_missing: {
    title: 'A request to the event stream has no access token',
    meaning:
      'The event API needs a token of the grant type `client_credentials` in the header `Authorization`.',
    application: 'Request one with `scope=ssf.read ssf.manage`, and send it as Bearer.',
  },
  event_token_inactive: {
    title: 'The access token is not valid for the event stream',
    meaning:
      'It has expired, is a token of a user or for another API, is bound to a key that the request does not prove, or its application is disabled.',
    application: 'Request a new one with `grant_type=client_credentials` and `scope=ssf.read ssf.manage`.',
  },
  event_scope_insufficient: {
    title: 'The access token lacks a scope of the event stream',
    meaning: '`ssf.read` permits reading and polling, `ssf.manage` changing the stream.',
    application: 'Request a token with both scopes.',
  },
  event_stream_exists: {
    title: 'The application already has an event stream',
    meaning: 'An application has one stream (section 8.1.1.1 of the Shared Signals Framework 1.0).',
    application: 'Read the stream without `stream_id`, and change it with PATCH or PUT.',
  },
  event_stream_unnamed: {
    title: 'The request does not name the event stream',
    meaning: 'The member or parameter `stream_id` is missing.',
    application: 'Send the `stream_id` from the response that created the stream.',
  },
  event_stream_unknown: {
    title: 'The event stream is unknown',
    meaning:
      'The application has no stream with this `stream_id`, or polls a stream whose events are pushed.',
    application: 'Read the stream without `stream_id`, or create one.',
  },
  event_subject_invalid: {
    title: 'The subject is not a user as the application knows users',
    meaning:
      'A subject has the format `iss_sub` (RFC 9493 3.2.4), our issuer, and the `sub` of ID tokens or the `id` of `/v2/me`.',
    application: 'Send `{"format": "iss_sub", "iss": "…", "sub": "…"}` as `subject`.',
  },
  event_subjects_exceeded: {
    title: 'The application has removed too many subjects from its event stream',
    meaning: 'A stream stores at most 10,000 removed subjects.',
    application: 'Ignore events about further users, or add subjects again.',
  },
  event_poll_malformed: {
    title: 'The request for events is malformed',
    meaning:
      'RFC 8936 2.2: `maxEvents` is a number, `ack` a list of at most 1,000 `jti`, and `setErrs` an object.',
    application: 'Correct the members.',
  },
  event_limit_exceeded: {
    title: 'The application sends too many requests for its event stream',
    meaning:
      'An application may send 600 requests in a minute, and request one verification event in `min_verification_interval` seconds.',
    application: 'Wait as long as `Retry-After` says. A poll returns up to 100 events.',
  },
  event_delayed: {
    title: 'The application did not accept an event yet',
    meaning:
      'Its receiver did not respond with 202 within 5 seconds. The service sends the event again for a week.',
    application: 'Respond with 202 within 5 seconds, without a redirect: process the event afterwards.',
    platform: 'If no application gets events, the token app must reach port 443 of the internet.',
  },
  event_refused: {
    title: 'The application refused an event',
    meaning: 'Its receiver responded with 400 and an error (RFC 8935 2.4), which is final.',
    application:
      'Verify the event with the current keys of `jwks_uri`, `typ` `secevent+jwt`, and the `aud` of the stream.',
  },
  event_stream_paused: {
    title: 'The event stream is paused, because its receiver has failed for a day',
    meaning: 'The receiver did not respond with 202 within 5 seconds. Events wait for a week.',
    application: 'Make the receiver reachable, and enable the stream again.',
    platform: 'If no application gets events, the token app must reach port 443 of the internet.',
  },
} as const satisfies CheckEntries & Record<CheckOf<EventReasons>, unknown>;

export const EVENT_DESCRIPTIONS: Descriptions<EventReasons> = {
  event_token_missing:
    'an access token of client_credentials is required: Authorization: Bearer <access token>',
  event_token_inactive: 'the access token is not valid for the event stream: request a new one',
  event_scope_insufficient: ({ scope }) => `the access token needs the scope ${scope}: request one with it`,
  event_stream_exists: 'the client already has a stream: read it and change it',
  event_stream_unnamed: 'stream_id is missing',
  event_stream_unknown: 'the client has no such stream',
  'event_stream_unknown.pushed':
    'the events of the stream are pushed: change its delivery to {"method": "urn:ietf:rfc:8936"} before you poll',
  event_subject_invalid: 'subject must be {"format": "iss_sub", "iss": this issuer, "sub": the id of a user}',
  event_subjects_exceeded: 'the stream has 10,000 removed subjects, which is the limit',
  event_poll_malformed: 'maxEvents must be a number, ack a list of at most 1,000 jti, and setErrs an object',
  event_limit_exceeded: ({ max, retryAfter }) =>
    `more than ${max} requests for the event stream in a minute; retry in ${retryAfter} s`,
  'event_limit_exceeded.verification': ({ retryAfter }) =>
    `verification events are requested too often; retry in ${retryAfter} s`,
};
