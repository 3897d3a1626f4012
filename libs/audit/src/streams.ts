import {
  ClosedConnectionError,
  ConnectionError,
  type NatsConnection,
  PermissionViolationError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import {
  DiscardPolicy,
  jetstream,
  JetStreamApiError,
  JetStreamError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { differingFields, nullIfMissing } from '#messaging/nats.connection.js';
import { AUDIT_STREAMS, type AuditEvent, auditSubject } from './event.js';
import type { AuditRetention } from './retention.js';

const TIMEOUT_MS = 2_000;
const DAY_NS = 86_400e9;
const MEGABYTE = 1024 * 1024;

/**
 * Creates the streams or updates their limits. Needs the NATS user of the trail's administrator. Concurrent calls are
 * safe.
 * @throws JetStreamError, for example if NATS lacks room for the limits
 */
export async function ensureAuditStreams(nats: NatsConnection, retention: AuditRetention): Promise<void> {
  const { streams } = await jetstream(nats, { timeout: TIMEOUT_MS }).jetstreamManager(false);
  for (const wanted of configurations(retention)) {
    const existing = await streams.info(wanted.name).catch(nullIfMissing);
    // NATS accepts an identical configuration, which another process may create concurrently.
    if (!existing) await streams.add(wanted);
    else if (differingFields(existing.config, wanted).length > 0) await streams.update(wanted.name, wanted);
  }
}

/** Waits until NATS has stored the event. @throws Error without a confirmation */
export async function storeEvent(nats: NatsConnection, event: AuditEvent): Promise<void> {
  const client = jetstream(nats, { timeout: TIMEOUT_MS });
  await client.publish(auditSubject(event), JSON.stringify(event), { msgID: event.id });
}

export function differingSettings(config: StreamConfig, retention: AuditRetention): string[] {
  const wanted = configurations(retention).find(({ name }) => name === config.name) ?? {};
  return differingFields(config, wanted);
}

type Configuration = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>;

function configurations({ days, megabytes, replicas }: AuditRetention): Configuration[] {
  const shared = {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: days * DAY_NS,
    // Only age and size limit the stream.
    max_msgs: -1,
    max_msgs_per_subject: -1,
    num_replicas: replicas,
    // These settings are permanent: even the administrator can only delete the whole stream.
    deny_delete: true,
    deny_purge: true,
  };
  return AUDIT_STREAMS.map(({ name, prefix, share }) => ({
    ...shared,
    name,
    subjects: [`${prefix}>`],
    max_bytes: Math.ceil(megabytes * share) * MEGABYTE,
  }));
}

/**
 * Returns true if JetStream is disabled or no stream has the subject. The NATS client throws the same error for both,
 * and does not export the class of the error.
 */
export function isUnserved(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

/** Returns true for a lost connection, a timeout, and a cluster without a leader. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof RequestError) return !(error.cause instanceof PermissionViolationError);
  if (error instanceof JetStreamApiError) return error.status === 503;
  return [TimeoutError, ConnectionError, ClosedConnectionError, JetStreamError].some(
    (type) => error instanceof type,
  );
}
