import { connect } from '@nats-io/transport-node';
import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import { ensureAuditStreams } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { ownDatabase } from './test-database.js';
import { claimSlot, type Slot } from './slot.js';
import { type TestServices, testServices } from './test-services.js';

/** Private servers, or parts of servers, of one suite. */
export interface Isolated {
  /** Database with all migrations applied. */
  databaseUrl: string;
  redisUrl: string;
  /** Account with the streams of the audit trail; the shared server if NATS_URL was set. */
  natsUrl: string;
  /** Must be called after all connections have been closed. */
  close(): Promise<void>;
}

/** Creates the private services in about 0.1 s. */
export async function isolate(): Promise<Isolated> {
  const services = testServices();
  const [database, slot] = await Promise.all([ownDatabase(services), slotWithTrail(services)]);
  return {
    databaseUrl: database.url,
    redisUrl: slot.redisUrl,
    natsUrl: slot.natsUrl,
    async close() {
      await Promise.all([database.drop(), slot.release()]);
    },
  };
}

async function slotWithTrail(services: TestServices): Promise<Slot> {
  const slot = await claimSlot(services);
  await createTrail(slot.natsUrl);
  return slot;
}

export async function createTrail(natsUrl: string, retention = DEFAULT_AUDIT_RETENTION): Promise<void> {
  const nats = await connect(natsOptions(natsUrl, 'test trail'));
  try {
    await ensureAuditStreams(nats, retention);
  } finally {
    await nats.close();
  }
}
