import { AckPolicy, DiscardPolicy, jetstream, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { LogoutQueueStatus } from '#platform/status/status-report.js';
import { differingFields, nullIfMissing } from '../nats.connection.js';
import { ACK_WAIT_MS, DELIVERY_LIMIT_MS, LOGOUT_CONSUMERS, LOGOUT_STREAM } from './logout-queue.js';

const NS = 1e6;
const TIMEOUT_MS = 2_000;
/** Shorter than the timeout of StatusReport for a part of the status. */
const STATE_TIMEOUT_MS = 400;

/** Number of copies in a NATS cluster. A single server has one copy. */
const REPLICAS = 3;

const STREAM = {
  name: LOGOUT_STREAM,
  subjects: ['oauth.logout.>'],
  retention: RetentionPolicy.Workqueue,
  storage: StorageType.File,
  discard: DiscardPolicy.Old,
  max_age: 2 * DELIVERY_LIMIT_MS * NS,
  max_bytes: 64 * 1024 * 1024,
  // A process that crashes after it stores deliveries and before it acknowledges the event causes duplicates.
  duplicate_window: 10 * 60_000 * NS,
};

/** Creates the work queue, with three copies in a cluster, or updates its limits. Concurrent calls are safe. */
export async function ensureLogoutQueue(nats: NatsConnection): Promise<void> {
  const { streams, consumers } = await jetstream(nats, { timeout: TIMEOUT_MS }).jetstreamManager(false);
  const existing = await streams.info(LOGOUT_STREAM).catch(nullIfMissing);
  if (!existing)
    await streams
      .add({ ...STREAM, num_replicas: REPLICAS })
      .catch(() => streams.add({ ...STREAM, num_replicas: 1 }));
  else if (differingFields(existing.config, STREAM).length > 0)
    // Ignores a failed update, which `doctor` reports as a difference.
    await streams.update(LOGOUT_STREAM, STREAM).catch(() => undefined);
  for (const { name, subject } of Object.values(LOGOUT_CONSUMERS)) {
    const settings = {
      filter_subject: subject,
      ack_wait: ACK_WAIT_MS * NS,
      // A limit would also count messages that wait for a retry, so one unavailable client would block all others.
      max_ack_pending: -1,
    };
    await consumers
      .add(LOGOUT_STREAM, { durable_name: name, ack_policy: AckPolicy.Explicit, ...settings })
      // NATS rejects the creation of a consumer that exists with other settings.
      .catch(() => consumers.update(LOGOUT_STREAM, name, settings));
  }
}

/** @throws Error if NATS does not respond in time or the stream does not exist */
export async function logoutQueueState(nats: NatsConnection): Promise<LogoutQueueStatus> {
  const { streams } = await jetstream(nats, { timeout: STATE_TIMEOUT_MS }).jetstreamManager(false);
  const { config, state } = await streams.info(LOGOUT_STREAM);
  return {
    messages: state.messages,
    bytes: state.bytes,
    max_bytes: config.max_bytes,
    oldest: state.messages > 0 ? new Date(state.first_ts).toISOString() : null,
    differing: differingFields(config, STREAM),
  };
}
