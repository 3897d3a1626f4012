import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { type KeeperWorld, openKeeperWorld } from './keeper-world.js';

const MINUTE = 60_000;

let world: KeeperWorld;

beforeAll(async () => {
  world = await openKeeperWorld();
  world.keeper.onApplicationBootstrap();
  // A keeper that has run for long: a day back is what it looks at its start, and a fail-over soon after that.
  for (let round = 0; round < 3; round++) {
    await world.pass(15 * MINUTE);
    const id = await world.grant();
    await world.recordRevocation(id);
    await world.becomesRevoked(id);
  }
});

afterAll(() => world.close());

afterEach(() => {
  for (const cable of Object.values(world.cables)) cable.down = false;
});

function cut(which: 'redis' | 'postgres'): void {
  world.cables[which].down = true;
  world.cables[which].cut();
}

it.each(['redis', 'postgres'] as const)(
  'a revocation is carried out after %s was away, however long that was',
  async (which) => {
    const [first, last] = [await world.grant(), await world.grant()];
    cut(which);
    await world.recordRevocation(first);
    for (let hour = 0; hour < 2; hour++) {
      await world.triesInVain();
      await world.pass(60 * MINUTE);
    }
    await world.recordRevocation(last);
    expect(await world.statusOf(first)).toBe('pending');
    world.cables[which].down = false;
    await world.becomesRevoked(first);
    await world.becomesRevoked(last);
  },
);

it('a revocation is carried out whose commit waited, as for a standby that is away, while others went on', async () => {
  const [waiting, other] = [await world.grant(), await world.grant()];
  const transaction = new Client({ connectionString: world.services.databaseUrl });
  await transaction.connect();
  await transaction.query('BEGIN');
  await transaction.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [waiting]);
  await world.pass(60 * MINUTE);
  await world.recordRevocation(other);
  await world.becomesRevoked(other);
  // What passed it would have made the time of its beginning.
  await transaction.query("UPDATE grants SET revoked_at = now() - interval '1 hour' WHERE id = $1", [
    waiting,
  ]);
  await transaction.query('COMMIT');
  await transaction.end();
  await world.becomesRevoked(waiting);
});

it('a revocation that was carried out late is carried out again where a fail-over loses that', async () => {
  const id = await world.grant();
  const before = await world.redis.dumpBuffer(`grant:${id}`);
  cut('postgres');
  await world.recordRevocation(id);
  await world.pass(60 * MINUTE);
  world.cables.postgres.down = false;
  await world.becomesRevoked(id);

  await world.redis.restore(`grant:${id}`, 0, before, 'REPLACE');
  world.cables.redis.cut();
  await world.becomesRevoked(id);
});

it('an outage is one line of the log, however many passes fail', async () => {
  const lines: unknown[] = [];
  const ignore = () => undefined;
  Logger.overrideLogger({ error: (line: unknown) => lines.push(line), log: ignore, warn: ignore });
  // What failed before is over when this is carried out.
  const [before, id] = [await world.grant(), await world.grant()];
  await world.recordRevocation(before);
  await world.becomesRevoked(before);
  lines.length = 0;
  cut('redis');
  await world.recordRevocation(id);
  for (let pass = 0; pass < 3; pass++) await world.triesInVain();
  expect(lines).toEqual([expect.stringMatching(/^recent revocations could not be applied to Redis yet: /)]);
});
