import { randomBytes } from 'node:crypto';
import type { LogExport } from '#platform/telemetry/log-export.js';

/** Increases only if an existing field of {@link AuditEvent} gets a new meaning. */
const AUDIT_VERSION = 1;

/** Rare types, caused by operators, the product and attacks. docs/audit.md describes all types. */
const TRAIL_TYPES = [
  'client.created',
  'client.updated',
  'client.disabled',
  'client.enabled',
  'client.deleted',
  'client_secret.rotated',
  'client_secret.revoked',
  'client_request.submitted',
  'client_request.answered',
  'client_request.withdrawn',
  'client_request.asked',
  'client_request.approved',
  'client_request.rejected',
  'client_member.invited',
  'client_member.added',
  'client_member.removed',
  'resource_server.created',
  'resource_server.updated',
  'resource_server.revoked',
  'console_operator.granted',
  'console_operator.revoked',
  'console_operator.invited',
  'console_operator.uninvited',
  'user.created',
  'user.imported',
  'user.updated',
  'user.disabled',
  'user.enabled',
  'user.deleted',
  'user.password_changed',
  'user.logged_out',
  'token.reuse_detected',
  'token_key.changed',
  'operator.command',
] as const;

/** Frequent types, caused by users and applications; stored separately, so that they do not displace rarer events. */
const ACTIVITY_TYPES = [
  'login.succeeded',
  'login.ended',
  'consent.allowed',
  'consent.denied',
  'token.issued',
  'token.refreshed',
  'token.retried',
  'grant.revoked',
  'logout_token.failed',
  'event.failed',
] as const;

/** Types that anyone can cause; stored separately, so that a flood of refusals does not displace other events. */
const REFUSAL_TYPES = ['login.refused', 'request.throttled', 'request.refused'] as const;

export const AUDIT_TYPES = [...TRAIL_TYPES, ...ACTIVITY_TYPES, ...REFUSAL_TYPES] as const;

export type AuditType = (typeof AUDIT_TYPES)[number];

export type AuditedApp = 'authorize' | 'token' | 'resource' | 'operator' | 'developers';

/** Fields that do not apply are absent, never null. */
export interface AuditEvent {
  readonly version: typeof AUDIT_VERSION;
  /**
   * Readers drop duplicates by this id. The id of the first event of a message is its Nats-Msg-Id, by which NATS drops
   * duplicates.
   */
  readonly id: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly time: string;
  readonly type: AuditType;
  /** Part of the subject, so that NATS permissions control which service a publisher can claim. */
  readonly service: AuditedApp;
  /** `error_reference` of the request; absent if no request caused the event. */
  readonly reference?: string;
  readonly client_id?: string;
  readonly user_id?: number;
  readonly grant_id?: string;
  /** Name of the operator, such as `ada@laptop` for a command; only in events of the service `operator`. */
  readonly operator?: string;
  /** Interface that the operator or API client used; absent for a command. */
  readonly channel?: 'api' | 'page';
  readonly request?: { readonly method: string; readonly path: string };
  /** `address` and `user_agent` are present only if AUDIT_CLIENT_ADDRESS is true. */
  readonly address?: string;
  readonly user_agent?: string;
  readonly status?: number;
  readonly error?: string;
  readonly check?: string;
  readonly description?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Changed fields of the client, user or operator. */
  readonly changes?: Readonly<Record<string, FieldChange>>;
}

/** Null means no value. `omitted` is the reason why the trail does not have the values. */
export type FieldChange =
  { readonly old: unknown; readonly new: unknown } | { readonly omitted: 'personal' | 'secret' };

export type AuditRecord = Omit<AuditEvent, 'version' | 'id' | 'time' | 'service'>;

/** The subject of an event is `<prefix><service>.<type>`. */
export const AUDIT_KINDS = {
  trail: { prefix: 'oauth.audit.', types: TRAIL_TYPES },
  activity: { prefix: 'oauth.activity.', types: ACTIVITY_TYPES },
  refusals: { prefix: 'oauth.refusal.', types: REFUSAL_TYPES },
} as const;

export interface AuditStream {
  readonly name: string;
  readonly prefix: string;
  readonly types: readonly AuditType[];
  /** Size as a fraction of AUDIT_MAX_MEGABYTES. */
  readonly share: number;
}

type Shares = Readonly<Partial<Record<AuditedApp, number>>>;

/** Each service has separate streams, because new events displace old events in a full stream. */
export const AUDIT_STREAMS: readonly AuditStream[] = [
  // The token app records every change that the product makes to a user, so it needs as large a share as the operator.
  ...streamsOf('OAUTH_AUDIT', AUDIT_KINDS.trail, {
    operator: 1 / 8,
    token: 1 / 8,
    authorize: 1 / 64,
    developers: 1 / 64,
  }),
  ...streamsOf('OAUTH_ACTIVITY', AUDIT_KINDS.activity, { token: 1, authorize: 1 / 16, operator: 1 / 64 }),
  ...streamsOf('OAUTH_REFUSALS', AUDIT_KINDS.refusals, {
    authorize: 1 / 8,
    token: 1 / 8,
    resource: 1 / 8,
    operator: 1 / 64,
  }),
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

/** Returns an empty string for an unknown type, such as a type of a later version. */
export function auditSubject({ service, type }: Pick<AuditEvent, 'service' | 'type'>): string {
  const prefix = PREFIXES.get(type);
  return prefix === undefined ? '' : `${prefix}${service}.${type}`;
}

const PROCESS = randomBytes(12).toString('base64url');
let count = 0;

export function auditEvent(service: AuditedApp, record: AuditRecord, time = new Date()): AuditEvent {
  return {
    version: AUDIT_VERSION,
    id: `${PROCESS}-${(++count).toString(36)}`,
    time: time.toISOString(),
    service,
    ...record,
  };
}

/** Emits an event as a log record. @param line the event as the trail stores it */
export function exportEvent(logs: LogExport, line: string): void {
  const event = JSON.parse(line) as AuditEvent;
  const { id, type, time, error, check } = event;
  const isWarning = error !== undefined || check !== undefined || type === 'token.reuse_detected';
  logs.emit({ id, name: type, time, isWarning, body: event });
}
