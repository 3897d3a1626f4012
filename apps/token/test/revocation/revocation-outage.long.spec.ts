import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { until } from '#test/support/until.js';
import { openReconcilerFixture, type ReconcilerFixture } from './reconciler-fixture.js';

const MINUTE = 60_000;

let fixture: ReconcilerFixture;

beforeAll(async () => {
  fixture = await openReconcilerFixture();
  fixture.reconciler.onApplicationBootstrap();
  // Simulates a reconciler that has run for 45 minutes, because its first pass covers a day.
  for (let round = 0; round < 3; round++) {
    await fixture.pass(15 * MINUTE);
    const id = await fixture.grant();
    await fixture.recordRevocation(id);
    await fixture.becomesRevoked(id);
  }
});

afterAll(() => fixture.close());

afterEach(() => {
  for (const proxy of Object.values(fixture.proxies)) proxy.reconnect();
});

function cut(which: 'redis' | 'postgres'): void {
  fixture.proxies[which].disconnect();
}

// @reliability redis-down
it.each(['redis', 'postgres'] as const)(
  'a revocation is applied even after a long outage of %s',
  async (which) => {
    const [first, last] = [await fixture.grant(), await fixture.grant()];
    cut(which);
    await fixture.recordRevocation(first);
    for (let hour = 0; hour < 2; hour++) {
      await fixture.failsAPass();
      await fixture.pass(60 * MINUTE);
    }
    await fixture.recordRevocation(last);
    expect(await fixture.statusOf(first)).toBe('pending');
    fixture.proxies[which].reconnect();
    await fixture.becomesRevoked(first);
    await fixture.becomesRevoked(last);
  },
);

// @reliability standby-down
it('a revocation that commits late is applied even after newer revocations', async () => {
  const [waiting, other] = [await fixture.grant(), await fixture.grant()];
  const transaction = new Client({ connectionString: fixture.services.databaseUrl });
  await transaction.connect();
  await transaction.query('BEGIN');
  await transaction.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [waiting]);
  await fixture.pass(60 * MINUTE);
  await fixture.recordRevocation(other);
  await fixture.becomesRevoked(other);
  await transaction.query("UPDATE grants SET revoked_at = now() - interval '1 hour' WHERE id = $1", [
    waiting,
  ]);
  await transaction.query('COMMIT');
  await transaction.end();
  await fixture.becomesRevoked(waiting);
});

it('a revocation that was applied late is applied again if a failover loses it', async () => {
  const id = await fixture.grant();
  const before = await fixture.redis.dumpBuffer(`grant:${id}`);
  cut('postgres');
  await fixture.recordRevocation(id);
  await fixture.pass(60 * MINUTE);
  fixture.proxies.postgres.reconnect();
  await fixture.becomesRevoked(id);

  await fixture.redis.restore(`grant:${id}`, 0, before, 'REPLACE');
  fixture.proxies.redis.cut();
  await fixture.becomesRevoked(id);
});

it('an outage is logged once, even if many passes fail', async () => {
  const lines: unknown[] = [];
  const ignore = () => undefined;
  Logger.overrideLogger({ error: (line: unknown) => lines.push(line), log: ignore, warn: ignore });
  // Waits until a pass succeeds, because passes of the previous test may have failed.
  const [before, id] = [await fixture.grant(), await fixture.grant()];
  await fixture.recordRevocation(before);
  await fixture.becomesRevoked(before);
  lines.length = 0;
  cut('redis');
  await fixture.recordRevocation(id);
  for (let pass = 0; pass < 3; pass++) await fixture.failsAPass();
  expect(lines).toEqual([expect.stringMatching(/^recorded revocations could not be applied yet: /)]);
});

it('a revocation is applied even if PostgreSQL is read-only and cannot mark it', async () => {
  const id = await fixture.grant();
  cut('redis');
  await fixture.recordRevocation(id);
  await fixture.failsAPass();
  await fixture.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
  );
  cut('postgres');
  for (const proxy of Object.values(fixture.proxies)) proxy.reconnect();
  await fixture.becomesRevoked(id);
  await fixture.failsAPass();
  expect(await fixture.isMarked(id)).toBe(false);
  await fixture.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$`,
  );
  fixture.proxies.postgres.cut();
  await until('it is marked', MINUTE, () => fixture.isMarked(id));
});
