import { DisabledClientDto, DocumentClientDto, ListChangesDto } from '#clients/operations/client.dto.js';
import { MessageDto } from '#clients/operations/requests/request.service.js';
import { ExplainedDecisionDto } from '#clients/operations/requests/review.service.js';
import {
  NewResourceServerDto,
  ResourceServerChangesDto,
} from '#clients/operations/resource-server.service.js';
import { Registration } from '#clients/registration/registration.js';
import { CONSOLE_ROLES } from '#users/operators/console-role.js';
import { classSchema } from '#openapi/class-schema.js';
import type { Schema } from '#openapi/schema.js';
import { GrantSelectionDto } from '#grants/operations/grant.dto.js';
import { ReceiverDto } from '#events/operations/receiver.dto.js';
import { InvitationDto, RoleDto } from '#users/operations/operators/console-operator.service.js';
import {
  DisabledUserDto,
  EnabledUserDto,
  NewUserDto,
  PasswordChangeDto,
  UserChangesDto,
} from '#users/operations/user.dto.js';
import { memberOf } from '#operations/member-names.js';

// Schemas of the API. The tests validate every response against them.

export const text: Schema = { type: 'string' };
export const number: Schema = { type: 'integer' };
const flag: Schema = { type: 'boolean' };
const time: Schema = { type: 'string', format: 'date-time' };
const anyObject: Schema = { type: 'object', additionalProperties: true };
export const list = (items: Schema): Schema => ({ type: 'array', items });
const texts = list(text);
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });

type Properties = Readonly<Record<string, Schema>>;

/** @param component name in the document, and in generated clients */
export function object(component: string, required: Properties, optional: Properties = {}): Schema {
  return {
    component,
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

/** Schema of a request body, from the class that validates it. @param hidden fields that are not in the body */
const body = (component: string, shape: new () => object, hidden: readonly string[] = []) =>
  classSchema(component, shape, (field) => (hidden.includes(field) ? null : memberOf(field)));

/** Present if there are warnings, for example about an unreachable service. */
const WARNINGS = { warnings: texts };

export function listOf(items: Schema): Schema {
  const properties = { items: list(items), next: orNull(text), previous: orNull(text), ...WARNINGS };
  return { type: 'object', required: ['items', 'next', 'previous'], properties };
}

// The logo has its own resource, `/clients/ID/logo`.
const REGISTRATION = body('NewClient', Registration, ['logo']);

const CLIENT_FIELDS: Properties = {
  client_id: text,
  ...REGISTRATION.properties,
  disabled_at: orNull(time),
  logo: orNull(text),
  auth_method: oneOf('client_secret', 'private_key_jwt', 'none'),
  keys: texts,
  live_secrets: number,
  document_due_at: orNull(time),
  document_problem: orNull(text),
  version: number,
  created_at: time,
};
// Only an application in testing has a stage.
export const CLIENT = object('Client', CLIENT_FIELDS, { stage: oneOf('testing'), ...WARNINGS });

export const NEW_CLIENT: Schema = {
  ...REGISTRATION,
  required: [],
  properties: { ...REGISTRATION.properties, ...body('', DocumentClientDto).properties },
  anyOf: [{ required: ['name'] }, { required: ['metadata_url'] }],
};

export const CLIENT_CHANGES = object(
  'ClientChanges',
  {},
  {
    ...body('', Registration, ['logo', 'type', 'grantType', 'profile']).properties,
    ...body('', ListChangesDto, ['expectedVersion']).properties,
  },
);

export const REGISTERED_CLIENT = object(
  'RegisteredClient',
  { ...CLIENT_FIELDS, client_secret: orNull(text), secret_id: orNull(text), token_url: text },
  {
    authorization_url: text,
    refresh_url: text,
    api_url: text,
    issuer: text,
    par_url: text,
    device_authorization_url: text,
    assertion_audience: text,
    ...WARNINGS,
  },
);

export const CLIENT_STATE = object(
  'ClientState',
  { client_id: text, disabled: flag, disabled_before: flag },
  WARNINGS,
);

const DAY = orNull({ type: 'string', format: 'date' });
const SECRET_FIELDS: Properties = { id: text, created_at: time, last_used_at: orNull(time) };
export const SECRET = object('Secret', SECRET_FIELDS);
export const SECRETS = object('Secrets', { client_id: text, secrets: list(SECRET) });
export const NEW_SECRET = object(
  'NewSecret',
  { ...SECRET_FIELDS, client_id: text, client_secret: text },
  WARNINGS,
);

const DISABLED_BY = list(oneOf('operator', 'product'));
const USER_FIELDS: Properties = {
  id: number,
  username: text,
  email: text,
  name: text,
  created_at: time,
  disabled_at: orNull(time),
  disabled_by: DISABLED_BY,
};
export const USER = object('User', USER_FIELDS);
const USER_DETAIL_FIELDS: Properties = {
  ...USER_FIELDS,
  email_verified: flag,
  issuer: orNull(text),
  external_id: orNull(text),
  has_password: flag,
  time_zone: text,
  locale: orNull(text),
  organization_id: orNull(number),
  live_grants: number,
  version: number,
};
export const USER_DETAILS = object('UserDetails', USER_DETAIL_FIELDS, WARNINGS);
export const NEW_USER = body('NewUser', NewUserDto);
export const CREATED_USER = object(
  'CreatedUser',
  { ...USER_DETAIL_FIELDS, password: orNull(text) },
  WARNINGS,
);
export const USER_CHANGES = body('UserChanges', UserChangesDto);
export const PASSWORD_CHANGE = body('PasswordChange', PasswordChangeDto);
export const CHANGED_PASSWORD = object(
  'ChangedPassword',
  { id: number, username: text, password: orNull(text), sessions_ended: flag },
  WARNINGS,
);
export const SESSION = object('Session', { started_at: time, last_used_at: time, at_provider: flag });
export const LOGGED_OUT_USER = object(
  'LoggedOutUser',
  { id: number, username: text, logged_out: flag },
  WARNINGS,
);
export const USER_STATE = object(
  'UserState',
  { id: number, username: text, disabled: flag, disabled_before: flag },
  { revoked_grants: number, disabled_by: DISABLED_BY, ...WARNINGS },
);
export const DISABLE_CLIENT = body('DisableClient', DisabledClientDto);
export const DISABLE_USER = body('DisableUser', DisabledUserDto);
export const ENABLE_USER = body('EnableUser', EnabledUserDto);

export const GRANT = object('Grant', {
  id: text,
  user_id: number,
  username: orNull(text),
  client_id: text,
  client_name: text,
  scope: text,
  state: oneOf('live', 'revoked', 'expired'),
  created_at: time,
  last_used_on: DAY,
  expires_at: time,
  revoked_at: orNull(time),
  version: number,
});
export const GRANT_SELECTION = body('GrantSelection', GrantSelectionDto, ['id']);
export const REVOKED_GRANTS = object('RevokedGrants', { revoked_grants: number }, WARNINGS);

export const NEW_RESOURCE_SERVER = body('NewResourceServer', NewResourceServerDto);
export const RESOURCE_SERVER_CHANGES = body('ResourceServerChanges', ResourceServerChangesDto);
const RESOURCE_SERVER_FIELDS: Properties = {
  id: text,
  ...NEW_RESOURCE_SERVER.properties,
  auth_method: oneOf('client_secret', 'private_key_jwt'),
  keys: texts,
  version: number,
  created_at: time,
};
export const RESOURCE_SERVER = object('ResourceServer', RESOURCE_SERVER_FIELDS, WARNINGS);
export const REGISTERED_RESOURCE_SERVER = object(
  'RegisteredResourceServer',
  { ...RESOURCE_SERVER_FIELDS, secret: orNull(text), introspection_url: text },
  { assertion_audience: text, ...WARNINGS },
);

const ROLE = oneOf(...CONSOLE_ROLES);
export const OPERATOR = object(
  'Operator',
  { user_id: number, username: text, email: text, role: ROLE, disabled_at: orNull(time) },
  WARNINGS,
);
export const OPERATOR_ROLE = body('OperatorRole', RoleDto, ['login']);
export const NEW_INVITATION = body('NewInvitation', InvitationDto);
export const INVITATION = object(
  'Invitation',
  { id: text, email: text, role: ROLE, invited_by: text, created_at: time, expires_at: time },
  WARNINGS,
);

export const EVENT_RECEIVER = body('EventReceiver', ReceiverDto);
const STREAM_STATUS = oneOf('enabled', 'paused', 'disabled');
export const EVENT_STREAM = object(
  'EventStream',
  {
    client_id: text,
    stream_id: text,
    delivery: oneOf('push', 'poll', 'logout'),
    events_url: orNull(text),
    events: texts,
    status: STREAM_STATUS,
    status_reason: orNull(text),
    failing_since: orNull(time),
    next_attempt_at: orNull(time),
    description: orNull(text),
    created_at: time,
  },
  WARNINGS,
);
export const EVENT_DELIVERY = object(
  'EventDelivery',
  {
    jti: text,
    type: text,
    client_id: text,
    user_id: orNull(number),
    created_at: time,
    state: oneOf('waiting', 'delivered', 'refused', 'excluded', 'expired'),
    attempts: number,
    answer: orNull(text),
    finished_at: orNull(time),
    next_attempt_at: orNull(time),
    receiver: text,
    stream_status: STREAM_STATUS,
    stream_reason: orNull(text),
    failing_since: orNull(time),
  },
  WARNINGS,
);
const REQUEST_KIND = oneOf('registration', 'change');
const REQUEST_FIELDS: Properties = {
  id: text,
  version: number,
  kind: REQUEST_KIND,
  status: oneOf('draft', 'submitted', 'question', 'approved', 'rejected', 'withdrawn'),
  client_id: orNull(text),
  created_at: time,
  submitted_at: orNull(time),
  decided_at: orNull(time),
  content: anyObject,
};
export const REQUEST = object('Request', REQUEST_FIELDS, WARNINGS);
export const QUEUED_REQUEST = object('QueuedRequest', {
  id: text,
  version: number,
  kind: REQUEST_KIND,
  status: oneOf('submitted', 'question'),
  client_id: text,
  name: text,
  submitted_at: time,
});
export const REVIEWED_REQUEST = object(
  'ReviewedRequest',
  {
    ...REQUEST_FIELDS,
    messages: list(object('Message', { at: time, author: oneOf('owner', 'operator'), name: text, text })),
    owners: list(
      object('Owner', {
        user_id: number,
        username: text,
        email: text,
        disabled_at: orNull(time),
        added_at: time,
      }),
    ),
    current: anyObject,
    changes: anyObject,
    findings: list(object('RequestFinding', { id: text, values: orNull(anyObject), text })),
  },
  WARNINGS,
);
export const MESSAGE = body('DecisionMessage', MessageDto, ['version']);
export const EXPLANATION_FOR_OWNER = body('ExplainedDecision', ExplainedDecisionDto, ['version']);

export const HANDOVER = object('Handover', { client_id: text, markdown: text }, WARNINGS);

export const SCOPE = object('Scope', {
  name: text,
  access: oneOf('read', 'write'),
  default: flag,
  resource: orNull(text),
  description: text,
  texts: anyObject,
});

export const EVENT: Schema = {
  ...object('Event', { version: number, id: text, time, type: text, service: text }),
  additionalProperties: true,
};

const REFUSAL = object('Refusal', {
  check: orNull(text),
  error: orNull(text),
  title: orNull(text),
  remedy: orNull(text),
  party: orNull(text),
  count: number,
  first: time,
  last: time,
  reference: orNull(text),
});
export const REFUSALS = object(
  'Refusals',
  {
    client_id: text,
    since: time,
    groups: list(REFUSAL),
    refused: number,
    logouts: number,
    succeeded: number,
  },
  WARNINGS,
);

const OPEN = { additionalProperties: true };
export const EXPLANATION: Schema = {
  ...object('Explanation', {
    reference: text,
    client_id: orNull(text),
    user_id: orNull(number),
    grant_id: orNull(text),
    check: orNull(text),
    title: orNull(text),
    meaning: orNull(text),
    remedies: list(anyObject),
    event: EVENT,
  }),
  ...OPEN,
};
const SEVERITY = oneOf('error', 'warning', 'info');
const FINDING = object('Finding', {
  check: text,
  severity: SEVERITY,
  area: text,
  standards: texts,
  subject: text,
  problem: text,
  remedy: text,
});
export const DIAGNOSIS = object(
  'Diagnosis',
  {
    passed: flag,
    fail_on: SEVERITY,
    counts: object('FindingCounts', { error: number, warning: number, info: number }),
    findings: list(FINDING),
    holding: texts,
    not_checked: list(object('NotChecked', { check: text, reason: text })),
  },
  WARNINGS,
);
export const KEY_REPORT: Schema = {
  ...object('KeyReport', {
    processes: texts,
    keys: list(anyObject),
    id_token_keys: list(anyObject),
    problems: list(anyObject),
  }),
  ...OPEN,
};
