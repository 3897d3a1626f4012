import { randomBytes } from 'node:crypto';
import { GrantEngine } from '#grants/grant-engine.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#grants/key-ring.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { SUBJECTS } from '#introspection/contract.js';
import { TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { directoryDataSource, requestLimits } from '#database/connection/data-source.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { redisClient } from '#platform/redis/redis-client.js';
import { RedisConnection } from '#platform/redis/redis.connection.js';
import { openFixture } from '#testing/fixture.js';
import { Interposer } from '#testing/interposer.js';
import { isolate } from '#testing/isolate.js';
import { PATIENT_MS } from '#testing/patience.js';
import { until } from '#testing/topology/until.js';
import { RevocationKeeper } from '../src/revocation/revocation-keeper.service.js';
import { RevocationReplay } from '../src/revocation/revocation-replay.service.js';

/** Against a hang, not to measure. */
const PATIENCE_MS = 60_000;

/** A keeper in a hurry on services of its own, whose clock can be put forward, and a user who allowed a client something. */
export async function openKeeperWorld(settings: { readonly redisUrl?: string } = {}) {
  const services = { ...(await isolate()), ...settings };
  const keys = randomBytes(32).toString('base64url');
  const fixture = await openFixture(services, keys);
  const [redis, postgres] = await Promise.all([
    Interposer.to(services.redisUrl),
    Interposer.to(services.databaseUrl),
  ]);
  const dataSource = await directoryDataSource(postgres.url, requestLimits(PATIENT_MS)).initialize();
  const client = redisClient(redis.url, PATIENT_MS);
  client.on('error', () => undefined);
  const connection = new TokenServiceConnection(services.natsUrl, 'token');
  await connection.open();
  let [skipped, looks] = [0, 0];
  /** A transaction that was there when time passed is older by that. */
  class Records extends GrantRecordStore {
    override async longestWrite(): Promise<number> {
      const real = await super.longestWrite();
      return real > 0 ? real + skipped : 0;
    }
  }
  const records = new Records(dataSource);
  const codec = new TokenCodec(KeyRing.parse(keys));
  const engine = new GrantEngine({
    store: new GrantStore(client),
    codec,
    issuer: new TokenIssuer(codec, DEFAULT_LIFETIMES),
    lifetimes: DEFAULT_LIFETIMES,
    durable: records,
    announce: (id) => connection.publish(SUBJECTS.grantRevoked, { grant_id: id }),
    clock: Date.now,
  });
  const replay = new RevocationReplay(records, engine);
  const clock = () => (looks++, performance.now() + skipped);
  const pace = { every: 200, retry: 100 };
  const keeper = new RevocationKeeper(new RedisConnection(client), connection, replay, records, clock, pace);
  const { client_id: clientId } = await fixture.client();
  const userId = await fixture.user();
  const statusOf = (id: string) => fixture.redis.hget(`grant:${id}`, 'status');

  return {
    ...fixture,
    services,
    connection,
    cables: { redis, postgres },
    replay,
    keeper,
    statusOf,

    grant: async (): Promise<string> => fixture.grantIdOf(await fixture.code(clientId, userId)),

    /** What a process does that dies between COMMIT and Redis. */
    recordRevocation: (id: string, ago = 0): Promise<unknown> =>
      fixture.sql(
        `UPDATE grants SET revoked_at = now() - $2::float8 * interval '1 millisecond' WHERE id = $1`,
        [id, ago],
      ),

    becomesRevoked: (id: string): Promise<void> =>
      until(`${id} is revoked in Redis`, PATIENCE_MS, async () => (await statusOf(id)) === 'revoked'),

    /** Time passes for the keeper, and for what is revoked by then. */
    async pass(milliseconds: number): Promise<void> {
      skipped += milliseconds;
      const earlier = `revoked_at - $1::float8 * interval '1 millisecond'`;
      await fixture.sql(`UPDATE grants SET revoked_at = ${earlier} WHERE revoked_at IS NOT NULL`, [
        milliseconds,
      ]);
    },

    /** Resolves when the keeper has begun a pass after this and failed. */
    async triesInVain(): Promise<void> {
      // Such a pass looks at its clock at its beginning and for the first page: one may be half over, one is whole.
      const before = looks;
      await until('the keeper tries again', PATIENCE_MS, () => looks >= before + 4);
    },

    async close(): Promise<void> {
      keeper.onApplicationShutdown();
      await connection.close();
      // While it connects it has timers that nobody ends.
      await until('Redis is connected', PATIENCE_MS, () => client.status === 'ready');
      client.disconnect();
      await dataSource.destroy();
      redis.close();
      postgres.close();
      await fixture.close();
      await services.close();
    },
  };
}

export type KeeperWorld = Awaited<ReturnType<typeof openKeeperWorld>>;
