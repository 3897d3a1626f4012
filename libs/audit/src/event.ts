import { randomBytes } from 'node:crypto';

/** The version of {@link AuditEvent}. It changes when a field changes its meaning; new fields and types do not change it. */
const AUDIT_VERSION = 1;

/** Types of events. docs/audit.md describes each. These come from operators, the product and attacks: there are few. */
const TRAIL_TYPES = [
  'client.created',
  'client.updated',
  'client.disabled',
  'client.enabled',
  'client.deleted',
  'client_secret.rotated',
  'client_secret.revoked',
  'resource_server.created',
  'resource_server.revoked',
  'user.created',
  'user.imported',
  'user.updated',
  'user.disabled',
  'user.enabled',
  'user.deleted',
  'user.password_changed',
  'token.reuse_detected',
  'token_key.changed',
  'operator.command',
] as const;

/** Users and applications cause these all day. A stream of their own keeps them from displacing the others. */
const ACTIVITY_TYPES = [
  'login.succeeded',
  'login.ended',
  'consent.allowed',
  'consent.denied',
  'token.issued',
  'token.refreshed',
  'token.retried',
  'grant.revoked',
] as const;

/** Anybody can cause these. They have a stream of their own, so that a flood of them displaces no other event. */
const REFUSAL_TYPES = ['login.refused', 'request.throttled', 'request.refused'] as const;

export const AUDIT_TYPES = [...TRAIL_TYPES, ...ACTIVITY_TYPES, ...REFUSAL_TYPES] as const;

export type AuditType = (typeof AUDIT_TYPES)[number];

export type AuditService = 'authorize' | 'token' | 'resource' | 'operator';

/** One event of the audit trail. A field that does not apply is absent, never null. */
export interface AuditEvent {
  readonly version: typeof AUDIT_VERSION;
  /** Unique; also the Nats-Msg-Id, by which NATS drops a repetition. */
  readonly id: string;
  /** ISO 8601, in UTC, with milliseconds. */
  readonly time: string;
  readonly type: AuditType;
  /** Part of the subject, so that NATS's permissions decide which service a publisher can name. */
  readonly service: AuditService;
  /** The request's `error_reference`; absent where no request caused the event. */
  readonly reference?: string;
  readonly client_id?: string;
  readonly user_id?: number;
  readonly grant_id?: string;
  /** User of a command: name@host. Only events of the operator have it. */
  readonly operator?: string;
  readonly request?: { readonly method: string; readonly path: string };
  /** The caller of the request; only if AUDIT_CLIENT_ADDRESS is true. */
  readonly address?: string;
  readonly user_agent?: string;
  /** The status of the answer. */
  readonly status?: number;
  /** The error code of the answer, and the failed check, its description and the values compared, as in the log line. */
  readonly error?: string;
  readonly check?: string;
  readonly description?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** An event without the fields that `auditEvent` adds. */
export type AuditRecord = Omit<AuditEvent, 'version' | 'id' | 'time' | 'service'>;

/** Kinds of events. The subject of an event is `<prefix><service>.<type>`. */
export const AUDIT_KINDS = {
  trail: { prefix: 'oauth.audit.', types: TRAIL_TYPES },
  activity: { prefix: 'oauth.activity.', types: ACTIVITY_TYPES },
  refusals: { prefix: 'oauth.refusal.', types: REFUSAL_TYPES },
} as const;

/** A JetStream stream of events. */
export interface AuditStream {
  readonly name: string;
  /** The subjects of its events begin with it. */
  readonly prefix: string;
  readonly types: readonly AuditType[];
  /** Its size, as a share of AUDIT_MAX_MEGABYTES. */
  readonly share: number;
}

type Shares = Readonly<Partial<Record<AuditService, number>>>;

/** Each service has separate streams: in a full stream the newest event displaces the oldest, also one of another service. */
export const AUDIT_STREAMS: readonly AuditStream[] = [
  // The token app records each change of a user by the product.
  ...streamsOf('OAUTH_AUDIT', AUDIT_KINDS.trail, { operator: 1 / 8, token: 1 / 8, authorize: 1 / 64 }),
  ...streamsOf('OAUTH_ACTIVITY', AUDIT_KINDS.activity, { token: 1, authorize: 1 / 16, operator: 1 / 64 }),
  ...streamsOf('OAUTH_REFUSALS', AUDIT_KINDS.refusals, { authorize: 1 / 8, token: 1 / 8, resource: 1 / 8 }),
];

function streamsOf(
  name: string,
  { prefix, types }: Pick<AuditStream, 'prefix' | 'types'>,
  shares: Shares,
): AuditStream[] {
  return Object.entries(shares).map(([service, share]) => ({
    name: `${name}_${service.toUpperCase()}`,
    prefix: `${prefix}${service}.`,
    types,
    share,
  }));
}

const PREFIXES: ReadonlyMap<AuditType, string> = new Map(
  Object.values(AUDIT_KINDS).flatMap(({ prefix, types }) =>
    types.map((type): [AuditType, string] => [type, prefix]),
  ),
);

/** The NATS subject of an event; empty for a type of a later version. */
export function auditSubject({ service, type }: Pick<AuditEvent, 'service' | 'type'>): string {
  const prefix = PREFIXES.get(type);
  return prefix === undefined ? '' : `${prefix}${service}.${type}`;
}

let formattedAt = NaN;
let formatted = '';

/** Remembers the last result: to format a date takes 0.6 µs, and under load many events have the same millisecond. */
function isoTime(time: Date): string {
  const milliseconds = time.getTime();
  if (milliseconds !== formattedAt) {
    formatted = time.toISOString();
    formattedAt = milliseconds;
  }
  return formatted;
}

const PROCESS = randomBytes(12).toString('base64url');
let count = 0;

/** Makes an event: adds its version, id and time. */
export function auditEvent(service: AuditService, record: AuditRecord, time = new Date()): AuditEvent {
  return {
    version: AUDIT_VERSION,
    id: `${PROCESS}-${(++count).toString(36)}`,
    time: isoTime(time),
    service,
    ...record,
  };
}
