import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { until } from '#test/support/until.js';
import { openReconcilerFixture, type ReconcilerFixture } from './reconciler-fixture.js';

const MINUTE = 60_000;

let world: ReconcilerFixture;

beforeAll(async () => {
  world = await openReconcilerFixture();
  world.reconciler.onApplicationBootstrap();
  // A reconciler that has run for a while: its first pass covers a day.
  for (let round = 0; round < 3; round++) {
    await world.pass(15 * MINUTE);
    const id = await world.grant();
    await world.recordRevocation(id);
    await world.becomesRevoked(id);
  }
});

afterAll(() => world.close());

afterEach(() => {
  for (const proxy of Object.values(world.proxies)) proxy.reconnect();
});

function cut(which: 'redis' | 'postgres'): void {
  world.proxies[which].disconnect();
}

it.each(['redis', 'postgres'] as const)(
  'a revocation is applied after an outage of %s, however long it lasted',
  async (which) => {
    const [first, last] = [await world.grant(), await world.grant()];
    cut(which);
    await world.recordRevocation(first);
    for (let hour = 0; hour < 2; hour++) {
      await world.failsAPass();
      await world.pass(60 * MINUTE);
    }
    await world.recordRevocation(last);
    expect(await world.statusOf(first)).toBe('pending');
    world.proxies[which].reconnect();
    await world.becomesRevoked(first);
    await world.becomesRevoked(last);
  },
);

it('a revocation that commits late, for example without a standby, is applied after newer ones', async () => {
  const [waiting, other] = [await world.grant(), await world.grant()];
  const transaction = new Client({ connectionString: world.services.databaseUrl });
  await transaction.connect();
  await transaction.query('BEGIN');
  await transaction.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [waiting]);
  await world.pass(60 * MINUTE);
  await world.recordRevocation(other);
  await world.becomesRevoked(other);
  // The transaction began an hour ago.
  await transaction.query("UPDATE grants SET revoked_at = now() - interval '1 hour' WHERE id = $1", [
    waiting,
  ]);
  await transaction.query('COMMIT');
  await transaction.end();
  await world.becomesRevoked(waiting);
});

it('a revocation that was applied late is applied again if a failover loses it', async () => {
  const id = await world.grant();
  const before = await world.redis.dumpBuffer(`grant:${id}`);
  cut('postgres');
  await world.recordRevocation(id);
  await world.pass(60 * MINUTE);
  world.proxies.postgres.reconnect();
  await world.becomesRevoked(id);

  await world.redis.restore(`grant:${id}`, 0, before, 'REPLACE');
  world.proxies.redis.cut();
  await world.becomesRevoked(id);
});

it('an outage is logged once, even if many passes fail', async () => {
  const lines: unknown[] = [];
  const ignore = () => undefined;
  Logger.overrideLogger({ error: (line: unknown) => lines.push(line), log: ignore, warn: ignore });
  // Completes earlier failed passes first.
  const [before, id] = [await world.grant(), await world.grant()];
  await world.recordRevocation(before);
  await world.becomesRevoked(before);
  lines.length = 0;
  cut('redis');
  await world.recordRevocation(id);
  for (let pass = 0; pass < 3; pass++) await world.failsAPass();
  expect(lines).toEqual([expect.stringMatching(/^recorded revocations could not be applied yet: /)]);
});

it('a revocation is applied even if PostgreSQL is read-only and cannot mark it', async () => {
  const id = await world.grant();
  cut('redis');
  await world.recordRevocation(id);
  await world.failsAPass();
  await world.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
  );
  cut('postgres');
  for (const proxy of Object.values(world.proxies)) proxy.reconnect();
  await world.becomesRevoked(id);
  await world.failsAPass();
  expect(await world.isMarked(id)).toBe(false);
  await world.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$`,
  );
  world.proxies.postgres.cut();
  await until('it is marked', MINUTE, () => world.isMarked(id));
});
