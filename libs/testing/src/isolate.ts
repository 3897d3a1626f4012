import { ownDatabase } from './own-database.js';
import { claimSlot } from './slot.js';
import { testServices } from './test-services.js';

/** Services that no other test sees. */
export interface Isolated {
  /** A database of its own with every migration applied. */
  databaseUrl: string;
  /** An empty logical database of its own. */
  redisUrl: string;
  /** A NATS account of its own; the shared server if NATS_URL was given. */
  natsUrl: string;
  /** Drops the database, and empties and releases the Redis database. Close their connections first. */
  close(): Promise<void>;
}

/** Prepares services for one suite; takes about 0.1 s. */
export async function isolate(): Promise<Isolated> {
  const services = testServices();
  const [database, slot] = await Promise.all([ownDatabase(services), claimSlot(services)]);
  return {
    databaseUrl: database.url,
    redisUrl: slot.redisUrl,
    natsUrl: slot.natsUrl,
    async close() {
      await Promise.all([database.drop(), slot.release()]);
    },
  };
}
