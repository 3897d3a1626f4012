import type { NatsConnection } from '@nats-io/transport-node';
import {
  DiscardPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { AUDIT_STREAMS, type AuditEvent, auditSubject } from './event.js';

const TIMEOUT_MS = 2_000;
const DAY_NS = 86_400e9;
const MEGABYTE = 1024 * 1024;

/** How much of the trail NATS keeps. */
export interface AuditRetention {
  readonly days: number;
  /** For the activity of users and applications; the other streams have a quarter of it each, in addition. */
  readonly megabytes: number;
  /** Copies, each on another server of the NATS cluster. */
  readonly replicas: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { days: 90, megabytes: 1024, replicas: 1 };

/**
 * Creates the streams, or brings their limits to `retention`. Safe to run by several processes at once.
 *
 * @throws JetStreamError if NATS has no JetStream, does not permit it, or has no room for the limits
 */
export async function ensureAuditStreams(nats: NatsConnection, retention: AuditRetention): Promise<void> {
  const { streams } = await jetstream(nats, { timeout: TIMEOUT_MS }).jetstreamManager(false);
  for (const wanted of configurations(retention)) {
    const existing = await streams.info(wanted.name).catch(nullIfMissing);
    // NATS accepts the same configuration again: another process may create the stream at the same moment.
    if (!existing) await streams.add(wanted);
    else if (Object.entries(wanted).some(([field, value]) => !isSame(existing.config, field, value)))
      await streams.update(wanted.name, wanted);
  }
}

/**
 * Publishes one event and waits until NATS has stored it. Creates the streams where no token app has done so yet, which then sets
 * their limits.
 *
 * @throws Error if NATS did not confirm it
 */
export async function storeEvent(nats: NatsConnection, event: AuditEvent): Promise<void> {
  const client = jetstream(nats, { timeout: TIMEOUT_MS });
  const publish = () => client.publish(auditSubject(event.type), JSON.stringify(event), { msgID: event.id });
  try {
    await publish();
  } catch (error) {
    if (!isUnserved(error)) throw error;
    await ensureMissing(await client.jetstreamManager(false));
    await publish();
  }
}

async function ensureMissing({ streams }: JetStreamManager): Promise<void> {
  for (const wanted of configurations(DEFAULT_AUDIT_RETENTION))
    if (!(await streams.info(wanted.name).catch(nullIfMissing))) await streams.add(wanted);
}

type Configuration = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>;

function configurations({ days, megabytes, replicas }: AuditRetention): Configuration[] {
  const shared = {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // The oldest events go first.
    discard: DiscardPolicy.Old,
    max_age: days * DAY_NS,
    num_replicas: replicas,
    // NATS sends a confirmation to whatever subject a publisher names, with a right to publish of its own. The body of a
    // confirmation is a valid request to purge a stream and to delete a message: without this, every app could.
    deny_delete: true,
    deny_purge: true,
  };
  return Object.values(AUDIT_STREAMS).map((stream) => ({
    ...shared,
    name: stream.name,
    subjects: [`${stream.prefix}>`],
    max_bytes: Math.ceil(stream === AUDIT_STREAMS.activity ? megabytes : megabytes / 4) * MEGABYTE,
  }));
}

function isSame(config: StreamConfig, field: string, wanted: unknown): boolean {
  return JSON.stringify(config[field as keyof StreamConfig]) === JSON.stringify(wanted);
}

/** For a request about a stream: null if it does not exist. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
  throw error;
}

/** Whether NATS has no JetStream, or no stream for the subject: the client calls both so, and does not export the class. */
export function isUnserved(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}
