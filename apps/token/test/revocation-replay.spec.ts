import { SUBJECTS } from '#introspection/contract.js';
import { monitorRedis } from '#testing/redis-monitor.js';
import { until } from '#testing/topology/until.js';
import { type KeeperWorld, openKeeperWorld } from './keeper-world.js';

const HOUR = 3_600_000;
const MANY = 1_200;

let world: KeeperWorld;

beforeEach(async () => {
  world = await openKeeperWorld();
});

afterEach(() => world.close());

const pass = (announce: 'always' | 'when_applied' = 'when_applied') =>
  world.replay.pass(() => HOUR, announce);

/** Revoked in PostgreSQL alone, one each second. @returns their ids, newest first */
async function recordMany(): Promise<string[]> {
  const id = await world.grant();
  const rows = (await world.sql(
    `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime, revoked_at)
     SELECT left(id, 38) || lpad(i::text, 5, '0'), user_id, client_id, scope, asked_scope, expires_at, lifetime,
            now() - i * interval '1 second'
     FROM grants, generate_series(1, ${MANY}) i WHERE id = $1 RETURNING id`,
    [id],
  )) as { id: string }[];
  return rows.map((row) => row.id);
}

/** Ids of the grants that were broadcast as revoked while that was done. */
async function toldWhile(work: () => Promise<unknown>): Promise<string[]> {
  // What the keeper's connection was given before has arrived before anybody listens.
  await world.connection.ping();
  const told: string[] = [];
  const stop = world.hear(SUBJECTS.grantRevoked, (event) =>
    told.push((event as { grant_id: string }).grant_id),
  );
  await world.settled();
  await work();
  // What the keeper's connection published before this arrives before this.
  const end = world.hear('the.end', () => told.push('the end'));
  await world.settled();
  world.connection.publish('the.end', { grant_id: '' });
  await until('the end is heard', 60_000, () => told.at(-1) === 'the end');
  stop();
  end();
  return told.slice(0, -1);
}

/** Keys of the grants that Redis was told about while that was done, in their order. */
async function appliedWhile(work: () => Promise<unknown>): Promise<string[]> {
  const keys: string[] = [];
  const stop = await monitorRedis(world.services.redisUrl, ([name, key = ''], source) => {
    if (source === 'lua' && name?.toLowerCase() === 'hget' && key.startsWith('grant:')) keys.push(key);
    if (key === 'the end') keys.push(key);
  });
  await work();
  await world.redis.exists('the end');
  await until('the end is heard', 60_000, () => keys.at(-1) === 'the end');
  stop();
  return keys.slice(0, -1);
}

it('applies the newest first: who has just revoked does not wait for what is applied long since', async () => {
  const ids = await recordMany();
  expect(await appliedWhile(pass)).toEqual(ids.map((id) => `grant:${id}`));
});

it('broadcasts what Redis did not know, and nothing that it knew', async () => {
  const [known, unknown] = [await world.grant(), await world.grant()];
  await world.recordRevocation(known);
  await pass();
  world.replay.forget();
  await world.recordRevocation(unknown);
  let changed = 0;
  expect(await toldWhile(async () => (changed = await pass()))).toEqual([unknown]);
  expect(changed).toBe(1);
});

it('broadcasts all of them where broadcasts were lost', async () => {
  const known = await world.grant();
  await world.recordRevocation(known);
  await pass();
  world.replay.forget();
  expect(await toldWhile(() => pass('always'))).toEqual([known]);
});

it('costs no command for what the pass before has applied, until that may be lost', async () => {
  const ids = await recordMany();
  expect(await pass()).toBe(MANY);
  expect(await appliedWhile(pass)).toEqual([]);
  const one = await world.grant();
  await world.recordRevocation(one);
  expect(await appliedWhile(pass)).toEqual([`grant:${one}`]);
  world.replay.forget();
  expect(await appliedWhile(pass)).toHaveLength(ids.length + 1);
});

it('remembers no more than the last pass met, so that memory is bounded by its window', async () => {
  const id = await world.grant();
  await world.recordRevocation(id, 60_000);
  expect(await appliedWhile(pass)).toEqual([`grant:${id}`]);
  expect(await appliedWhile(() => world.replay.pass(() => 1_000, 'when_applied'))).toEqual([]);
  expect(await appliedWhile(pass)).toEqual([`grant:${id}`]);
});

it('ends when Redis connects anew, and counts nothing as applied', async () => {
  const ids = await recordMany();
  const keys = ids.map((id) => `grant:${id}`);
  const losing = () =>
    world.replay.pass(() => {
      world.replay.forget();
      return HOUR;
    }, 'when_applied');
  expect(await appliedWhile(losing)).toEqual([]);
  expect(await appliedWhile(pass)).toEqual(keys);
  // All was applied, and is lost while the next pass finds that it was.
  expect(await appliedWhile(losing)).toEqual([]);
  expect(await appliedWhile(pass)).toEqual(keys);
});

it('is held up by nothing that fails: a part of Redis may be away', async () => {
  const ids = await recordMany();
  const away = ids.slice(0, 700);
  await world.redis.mset(Object.fromEntries(away.map((id) => [`grant:${id}`, 'no hash'])));
  await expect(pass()).rejects.toThrow('WRONGTYPE');
  for (const id of [ids[700], ids.at(-1)]) expect(await world.statusOf(id ?? '')).toBe('revoked');
});

it('goes on where it failed: what was applied by then is not applied again', async () => {
  const ids = await recordMany();
  const [newest = '', oldest = ''] = [ids[0], ids.at(-1)];
  // No hash: every script on it fails.
  await world.redis.set(`grant:${oldest}`, 'no hash');
  await expect(pass()).rejects.toThrow('WRONGTYPE');
  expect(await world.statusOf(newest)).toBe('revoked');
  await world.redis.del(`grant:${oldest}`);
  expect(await appliedWhile(pass)).toEqual([`grant:${oldest}`]);
});
