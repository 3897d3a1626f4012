import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { INVALIDATIONS } from '#messaging/contract.js';
import { NatsRevocationPublisher } from '#grants/revocation.service.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { redisClient } from '#platform/redis/redis-client.js';
import { RedisConnection } from '#platform/redis/redis.connection.js';
import { openFixture } from '#test/support/fixture.js';
import { grantEngine } from '#test/support/grant-engine.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { isolate } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { storedGrant } from '#test/support/stored.js';
import { until } from '#test/support/until.js';
import { RevocationReconciler } from '../../src/revocation/revocation-reconciler.js';

const PATIENCE_MS = 60_000;

export async function openReconcilerFixture(settings: { readonly redisUrl?: string } = {}) {
  const services = { ...(await isolate()), ...settings };
  const tokenKeys = randomBytes(32).toString('base64url');
  const fixture = await openFixture(services, tokenKeys);
  const [redis, postgres] = await Promise.all([
    FaultProxy.start(services.redisUrl),
    FaultProxy.start(services.databaseUrl),
  ]);
  const dataSource = await databaseDataSource(postgres.url, requestLimits(PATIENT_MS)).initialize();
  const client = redisClient(redis.url, PATIENT_MS);
  client.on('error', () => undefined);
  const connection = new NatsConnection({
    natsUrl: services.natsUrl,
    name: 'token',
    invalidations: INVALIDATIONS,
  });
  await connection.open();
  let [skipped, passes] = [0, 0];
  /** Counts passes, each of which reads the database's clock once, and adds the skipped time to this clock. */
  class Records extends GrantRecordStore {
    override async databaseTime(): Promise<number> {
      passes++;
      return (await super.databaseTime()) + skipped;
    }

    override revocationsToApply(since: number, until: number) {
      return super.revocationsToApply(since - skipped, until - skipped);
    }
  }
  const records = new Records(dataSource);
  const publisher = new NatsRevocationPublisher(connection);
  const { revocations } = grantEngine({ redis: client, records, tokenKeys, publisher });
  const intervals = { pass: 200, retry: 100 };
  const redisConnection = new RedisConnection(client);
  const reconciler = new RevocationReconciler(redisConnection, connection, records, revocations, intervals);
  const { client_id: clientId } = await fixture.client();
  const userId = await fixture.user();
  const statusOf = async (id: string) => (await storedGrant(fixture.redis, id)).status ?? null;

  return {
    ...fixture,
    services,
    connection,
    proxies: { redis, postgres },
    records,
    revocations,
    reconciler,
    statusOf,

    grant: async (): Promise<string> => fixture.grantIdOf(await fixture.code(clientId, userId)),

    /** Simulates a process that dies between COMMIT and Redis. */
    recordRevocation: (id: string): Promise<unknown> =>
      fixture.sql('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]),

    becomesRevoked: (id: string): Promise<void> =>
      until(`${id} is revoked in Redis`, PATIENCE_MS, async () => (await statusOf(id)) === 'revoked'),

    isMarked: async (id: string): Promise<boolean> => {
      const rows = await fixture.sql(
        'SELECT FROM grants WHERE id = $1 AND revocation_applied_at IS NOT NULL',
        [id],
      );
      return rows.length === 1;
    },

    /** Simulates the passage of time by making all recorded revocations older. */
    async pass(milliseconds: number): Promise<void> {
      skipped += milliseconds;
      await fixture.sql(
        `UPDATE grants SET revoked_at = revoked_at - $1::float8 * interval '1 millisecond',
           revocation_applied_at = revocation_applied_at - $1::float8 * interval '1 millisecond'
         WHERE revoked_at IS NOT NULL`,
        [milliseconds],
      );
    },

    /** Cuts the reconciler's connection to Redis and waits until the client has reconnected. */
    async reconnectRedis(): Promise<void> {
      const ready = once(client, 'ready');
      redis.cut();
      await ready;
    },

    async failsAPass(): Promise<void> {
      // The third pass begins after the first two have ended.
      const before = passes;
      await until('the reconciler tries again', PATIENCE_MS, () => passes >= before + 3);
    },

    async close(): Promise<void> {
      reconciler.onApplicationShutdown();
      await connection.close();
      // While connecting, the client has timers that `disconnect` does not stop.
      await until('Redis is connected', PATIENCE_MS, () => client.status === 'ready');
      client.disconnect();
      await dataSource.destroy();
      await redis.close();
      await postgres.close();
      await fixture.close();
      await services.close();
    },
  };
}

export type ReconcilerFixture = Awaited<ReturnType<typeof openReconcilerFixture>>;
