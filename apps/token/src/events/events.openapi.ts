import { applyDecorators, HttpCode } from '@nestjs/common';
import { STREAM_STATUSES } from '#events/event-stream.entity.js';
import { oauthErrors, DPOP_NONCE } from '#openapi/oauth-errors.js';
import { ApiOperation, json, type OperationDescription } from '#openapi/operation.js';
import type { Schema } from '#openapi/schema.js';
import { EventScope } from './event-token.guard.js';

type Members = Readonly<Record<string, Schema>>;

const TEXT: Schema = { type: 'string' };
const URI: Schema = { type: 'string', format: 'uri' };
const URIS: Schema = { type: 'array', items: URI };
const text = (description: string): Schema => ({ ...TEXT, description });
const uri = (description: string): Schema => ({ ...URI, description });
const uris = (description: string): Schema => ({ ...URIS, description });
const object = (properties: Members, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});

/** Schema of a response. */
const answer = (component: string, members: Members, optional: Members = {}): Schema => ({
  component,
  ...object({ ...members, ...optional }, Object.keys(members)),
});

/** Section 8.1.1 of the Shared Signals Framework 1.0. */
const CONFIGURATION = answer(
  'StreamConfiguration',
  {
    stream_id: text('Names the stream in every other request.'),
    iss: uri('Issuer of the events.'),
    aud: text('`aud` of the events: the client_id.'),
    delivery: {
      type: 'object',
      properties: { method: URI, endpoint_url: URI },
      description: 'How the events are delivered; never the authorization header.',
    },
    events_supported: uris('Every event of this service.'),
    events_requested: uris('Requested events.'),
    events_delivered: uris('Events of the stream.'),
    min_verification_interval: { type: 'integer', description: 'Seconds between two verifications.' },
  },
  { description: text('Text of the client.') },
);
/** Section 8.1.2. */
const STATUS = answer(
  'StreamState',
  {
    stream_id: text('The stream.'),
    status: {
      ...TEXT,
      enum: STREAM_STATUSES,
      description: 'A paused stream keeps its events for a week; a disabled one records none.',
    },
  },
  { reason: text('Reason of the status.') },
);
const POLLED = answer('PolledEvents', {
  sets: {
    type: 'object',
    additionalProperties: true,
    description: 'Security event tokens by `jti`, until they are acknowledged.',
  },
  moreAvailable: { type: 'boolean', description: 'True if further events wait.' },
});
const TRANSMITTER = answer('SsfConfiguration', {
  spec_version: text('Version of the framework.'),
  issuer: uri('Issuer of the events.'),
  jwks_uri: uri('Keys of the events.'),
  delivery_methods_supported: uris('Push (RFC 8935) and poll (RFC 8936).'),
  configuration_endpoint: uri('Streams.'),
  status_endpoint: uri('Status of the stream.'),
  add_subject_endpoint: uri('Adds a subject again.'),
  remove_subject_endpoint: uri('Removes a subject.'),
  verification_endpoint: uri('Requests a verification event.'),
  authorization_schemes: {
    type: 'array',
    items: { type: 'object', properties: { spec_urn: TEXT } },
    description: 'OAuth 2.0 with `client_credentials`.',
  },
  default_subjects: { ...TEXT, enum: ['ALL'], description: 'A stream begins with all users of the client.' },
});

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

/**
 * Describes an operation of the event API, whose id is the name of the method.
 * @param success response, whose status the method returns
 * @param body absent if `stream_id` is in the query
 */
export const EventOperation =
  (
    summary: string,
    scope: 'ssf.read' | 'ssf.manage',
    success: OperationDescription['responses'],
    body?: Schema,
  ): MethodDecorator =>
  (prototype, name, descriptor) =>
    applyDecorators(
      EventScope(scope),
      HttpCode(Math.min(...Object.keys(success).map(Number))),
      ApiOperation({
        id: String(name),
        tag: 'Events',
        summary,
        security: [{ accessToken: [scope] }, { dpop: [scope] }],
        ...(body
          ? { body: { types: ['application/json'], schema: body } }
          : { parameters: { stream_id: { in: 'query', description: 'The stream.', schema: TEXT } } }),
        responses: { ...success, ...ERRORS },
      }),
    )(prototype, name, descriptor);

const SETTINGS = {
  delivery: object({ method: URI, endpoint_url: URI, authorization_header: TEXT }, ['method']),
  events_requested: URIS,
  description: TEXT,
};
/** Body of a request that names the stream. */
const named = (members: Members, required: readonly string[] = []): Schema =>
  object({ stream_id: TEXT, ...members }, ['stream_id', ...required]);
export const NEW_STREAM = object(SETTINGS);
export const CHANGES = named(SETTINGS);
export const NEW_STATUS = named({ status: TEXT, reason: TEXT }, ['status']);
export const SUBJECT = named({ subject: object({ format: TEXT, iss: URI, sub: TEXT }) }, ['subject']);
export const VERIFICATION = named({ state: TEXT });
export const POLL = object({
  maxEvents: { type: 'integer', minimum: 0 },
  returnImmediately: { type: 'boolean' },
  ack: { type: 'array', items: TEXT },
  setErrs: { type: 'object', additionalProperties: true },
});

const returns = (description: string, schema: Schema) => ({ description, content: json(schema, {}) });
export const STREAM = { 200: returns('The stream.', CONFIGURATION) };
export const STREAM_CREATED = { 201: STREAM[200], ...oauthErrors({ 409: ['invalid_request'] }) };
export const STREAM_OR_LIST = {
  200: returns('The stream, or a list.', {
    anyOf: [CONFIGURATION, { type: 'array', items: CONFIGURATION }],
  }),
};
export const DELETED = { 204: { description: 'The stream is deleted.' } };
export const STATE = { 200: returns('The status.', STATUS) };
export const SUBJECT_ADDED = { 200: { description: 'The subject is in the stream.' } };
export const SUBJECT_REMOVED = { 204: { description: 'The subject is not in the stream.' } };
export const VERIFYING = { 204: { description: 'The event is on its way.' } };
export const EVENTS = { 200: returns('Events that wait.', POLLED) };
export const SSF_CONFIGURATION: OperationDescription = {
  id: 'ssfConfiguration',
  tag: 'Metadata',
  summary: 'Metadata of the transmitter (section 7 of the Shared Signals Framework 1.0)',
  responses: { 200: returns('The metadata.', TRANSMITTER), ...oauthErrors({ 404: ['not_found'] }) },
};
