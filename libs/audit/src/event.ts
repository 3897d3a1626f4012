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

/** One event of the audit trail. A field that does not apply is absent, never null. */
export interface AuditEvent {
  readonly version: typeof AUDIT_VERSION;
  /** Unique; also the Nats-Msg-Id, by which NATS drops a repetition. */
  readonly id: string;
  /** ISO 8601, in UTC, with milliseconds. */
  readonly time: string;
  readonly type: AuditType;
  readonly service: 'authorize' | 'token' | 'resource' | 'operator';
  /** The request's `error_reference`; absent where no request caused the event. */
  readonly reference?: string;
  readonly client_id?: string;
  readonly user_id?: number;
  readonly grant_id?: string;
  /** Who ran a command: name@host. */
  readonly operator?: string;
  readonly request?: { readonly method: string; readonly path: string };
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

/** A JetStream stream of events: each event has the subject `<prefix><type>`. */
export interface AuditStream {
  readonly name: string;
  readonly prefix: string;
  readonly types: readonly AuditType[];
}

export const AUDIT_STREAMS = {
  trail: { name: 'OAUTH_AUDIT', prefix: 'oauth.audit.', types: TRAIL_TYPES },
  activity: { name: 'OAUTH_ACTIVITY', prefix: 'oauth.activity.', types: ACTIVITY_TYPES },
  refusals: { name: 'OAUTH_REFUSALS', prefix: 'oauth.refusal.', types: REFUSAL_TYPES },
} as const satisfies Readonly<Record<string, AuditStream>>;

const SUBJECTS: ReadonlyMap<AuditType, string> = new Map(
  Object.values(AUDIT_STREAMS).flatMap(({ prefix, types }) =>
    types.map((type): [AuditType, string] => [type, prefix + type]),
  ),
);

/** The NATS subject of an event. */
export function auditSubject(type: AuditType): string {
  return SUBJECTS.get(type) ?? '';
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
export function auditEvent(
  service: AuditEvent['service'],
  record: AuditRecord,
  time = new Date(),
): AuditEvent {
  return {
    version: AUDIT_VERSION,
    id: `${PROCESS}-${(++count).toString(36)}`,
    time: isoTime(time),
    service,
    ...record,
  };
}
