import { DPOP_NONCE, oauthErrors } from '#openapi/oauth-errors.js';
import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty, type Schema } from '#openapi/schema.js';

const text = { type: 'string' } as const;
const uri = { type: 'string', format: 'uri' } as const;
const uris = { type: 'array', items: uri } as const;

/** Section 8.1.1 of the Shared Signals Framework 1.0. */
export class StreamConfiguration {
  @ApiProperty({ description: 'Names the stream in every other request.' })
  readonly stream_id: string;

  @ApiProperty({ ...uri, description: 'Issuer of the events.' })
  readonly iss: string;

  @ApiProperty({ description: '`aud` of the events: the client_id.' })
  readonly aud: string;

  @ApiProperty({
    type: 'object',
    properties: { method: uri, endpoint_url: uri },
    description: 'How the events are delivered; never the authorization header.',
  })
  readonly delivery: { readonly method: string; readonly endpoint_url: string };

  @ApiProperty({ ...uris, description: 'Every event of this service.' })
  readonly events_supported: readonly string[];

  @ApiProperty({ ...uris, description: 'Requested events.' })
  readonly events_requested: readonly string[];

  @ApiProperty({ ...uris, description: 'Events of the stream.' })
  readonly events_delivered: readonly string[];

  @ApiProperty({ type: 'integer', description: 'Seconds between two verifications.' })
  readonly min_verification_interval: number;

  @ApiProperty({ description: 'Text of the client.', optional: true })
  readonly description?: string;
}

/** Section 8.1.2. */
export class StreamState {
  @ApiProperty({ description: 'The stream.' })
  readonly stream_id: string;

  @ApiProperty({
    enum: ['enabled', 'paused', 'disabled'],
    description: 'A paused stream keeps its events for a week; a disabled one records none.',
  })
  readonly status: string;

  @ApiProperty({ description: 'Reason of the status.', optional: true })
  readonly reason?: string;
}

export class PolledEvents {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Security event tokens by `jti`, until they are acknowledged.',
  })
  readonly sets: Readonly<Record<string, string>>;

  @ApiProperty({ description: 'True if further events wait.' })
  readonly moreAvailable: boolean;
}

export class SsfConfiguration {
  @ApiProperty({ description: 'Version of the framework.' })
  readonly spec_version: string;

  @ApiProperty({ ...uri, description: 'Issuer of the events.' })
  readonly issuer: string;

  @ApiProperty({ ...uri, description: 'Keys of the events.' })
  readonly jwks_uri: string;

  @ApiProperty({ ...uris, description: 'Push (RFC 8935) and poll (RFC 8936).' })
  readonly delivery_methods_supported: readonly string[];

  @ApiProperty({ ...uri, description: 'Streams.' })
  readonly configuration_endpoint: string;

  @ApiProperty({ ...uri, description: 'Status of the stream.' })
  readonly status_endpoint: string;

  @ApiProperty({ ...uri, description: 'Adds a subject again.' })
  readonly add_subject_endpoint: string;

  @ApiProperty({ ...uri, description: 'Removes a subject.' })
  readonly remove_subject_endpoint: string;

  @ApiProperty({ ...uri, description: 'Requests a verification event.' })
  readonly verification_endpoint: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', properties: { spec_urn: text } },
    description: 'OAuth 2.0 with `client_credentials`.',
  })
  readonly authorization_schemes: readonly { readonly spec_urn: string }[];

  @ApiProperty({ enum: ['ALL'], description: 'A stream begins with all users of the client.' })
  readonly default_subjects: string;
}

const CHALLENGE = { 'WWW-Authenticate': { description: 'Challenge (RFC 6750 3, RFC 9449 7.1).' } };
const { 401: UNAUTHENTICATED, 403: FORBIDDEN } = oauthErrors({
  401: ['invalid_token', 'invalid_dpop_proof', 'use_dpop_nonce'],
  403: ['insufficient_scope'],
});
const ERRORS = {
  ...oauthErrors({ 400: ['invalid_request'], 404: ['not_found'] }),
  401: {
    ...UNAUTHENTICATED,
    description: 'No access token, or one that is not valid here.',
    name: 'EventError401',
    headers: { ...CHALLENGE, 'DPoP-Nonce': DPOP_NONCE },
  },
  403: {
    ...FORBIDDEN,
    description: 'The access token lacks the scope.',
    name: 'EventError403',
    headers: CHALLENGE,
  },
};

function operation(
  id: string,
  summary: string,
  scope: 'ssf.read' | 'ssf.manage',
  responses: OperationDescription['responses'],
  { body, hasStreamId = false }: { readonly body?: Schema; readonly hasStreamId?: boolean } = {},
): OperationDescription {
  return {
    id,
    tag: 'Events',
    summary,
    security: [{ accessToken: [scope] }, { dpop: [scope] }],
    ...(hasStreamId && {
      parameters: { stream_id: { in: 'query', description: 'The stream.', schema: text } },
    }),
    ...(body && { body: { types: ['application/json'], schema: body } }),
    responses: { ...responses, ...ERRORS },
  };
}

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});

const SETTINGS = {
  delivery: object({ method: uri, endpoint_url: uri, authorization_header: text }, ['method']),
  events_requested: uris,
  description: text,
};
const NAMED = { stream_id: text };
const SUBJECT = object({ ...NAMED, subject: object({ format: text, iss: uri, sub: text }) }, [
  'stream_id',
  'subject',
]);

const CONFIGURATION = { description: 'The stream.', content: json(StreamConfiguration, {}) };
const STATE = { description: 'The status.', content: json(StreamState, {}) };

export const CREATE_STREAM = operation(
  'createEventStream',
  'Creates the stream of the client',
  'ssf.manage',
  { 201: CONFIGURATION, ...oauthErrors({ 409: ['invalid_request'] }) },
  { body: object(SETTINGS) },
);
export const READ_STREAM = operation(
  'readEventStream',
  'Reads the stream; without stream_id, a list of it',
  'ssf.read',
  {
    200: {
      description: 'The stream, or a list.',
      content: json({ anyOf: [StreamConfiguration, { type: 'array', items: StreamConfiguration }] }, {}),
    },
  },
  { hasStreamId: true },
);
export const UPDATE_STREAM = operation(
  'updateEventStream',
  'Changes the members that the request has',
  'ssf.manage',
  { 200: CONFIGURATION },
  { body: object({ ...NAMED, ...SETTINGS }, ['stream_id']) },
);
export const REPLACE_STREAM = operation(
  'replaceEventStream',
  'Replaces the configuration',
  'ssf.manage',
  { 200: CONFIGURATION },
  { body: object({ ...NAMED, ...SETTINGS }, ['stream_id']) },
);
export const DELETE_STREAM = operation(
  'deleteEventStream',
  'Deletes the stream with its events',
  'ssf.manage',
  { 204: { description: 'The stream is deleted.' } },
  { hasStreamId: true },
);
export const READ_STATUS = operation(
  'readEventStreamStatus',
  'Reads the status of the stream',
  'ssf.read',
  { 200: STATE },
  { hasStreamId: true },
);
export const SET_STATUS = operation(
  'setEventStreamStatus',
  'Pauses, disables or enables the stream',
  'ssf.manage',
  { 200: STATE },
  { body: object({ ...NAMED, status: text, reason: text }, ['stream_id', 'status']) },
);
export const ADD_SUBJECT = operation(
  'addEventSubject',
  'Sends events about a user again',
  'ssf.manage',
  { 200: { description: 'The subject is in the stream.' } },
  { body: SUBJECT },
);
export const REMOVE_SUBJECT = operation(
  'removeEventSubject',
  'Sends no events about a user',
  'ssf.manage',
  { 204: { description: 'The subject is not in the stream.' } },
  { body: SUBJECT },
);
export const VERIFY_STREAM = operation(
  'verifyEventStream',
  'Sends a verification event',
  'ssf.manage',
  { 204: { description: 'The event is on its way.' } },
  { body: object({ ...NAMED, state: text }, ['stream_id']) },
);
export const POLL_EVENTS = operation(
  'pollEvents',
  'Acknowledges events, and returns events that wait',
  'ssf.read',
  { 200: { description: 'Events that wait.', content: json(PolledEvents, {}) } },
  {
    body: object({
      maxEvents: { type: 'integer', minimum: 0 },
      returnImmediately: { type: 'boolean' },
      ack: { type: 'array', items: text },
      setErrs: { type: 'object', additionalProperties: true },
    }),
  },
);
export const SSF_CONFIGURATION: OperationDescription = {
  id: 'ssfConfiguration',
  tag: 'Metadata',
  summary: 'Metadata of the transmitter (section 7 of the Shared Signals Framework 1.0)',
  responses: {
    200: { description: 'The metadata.', content: json(SsfConfiguration, {}) },
    ...oauthErrors({ 404: ['not_found'] }),
  },
};
