import { FIELD, STATUS } from '#grants/grant.scripts.js';
import { SUBJECTS } from '#messaging/contract.js';
import { monitorRedis } from '#test/support/redis-monitor.js';
import { until } from '#test/support/until.js';
import { openReconcilerWorld, type ReconcilerWorld } from './reconciler-world.js';

const HOUR = 3_600_000;
const MANY = 1_200;

let world: ReconcilerWorld;

beforeEach(async () => {
  world = await openReconcilerWorld();
});

afterEach(() => world.close());

/** One pass of a process over what was applied in the last hour. @returns how many revocations Redis did not know */
async function pass({
  announceAll = false,
  since = -HOUR,
  isObsolete = (): boolean => false,
} = {}): Promise<number> {
  const now = await world.records.databaseTime();
  return world.revocations.reconcile({ since: now + since, until: now, announceAll, isObsolete });
}

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
async function heardWhile(work: () => Promise<unknown>): Promise<string[]> {
  // What the reconciler's connection was given before has arrived before anybody listens.
  await world.connection.ping();
  const told: string[] = [];
  const stop = world.hear(SUBJECTS.grantRevoked, (event) =>
    told.push((event as { grant_id: string }).grant_id),
  );
  await world.settled();
  await work();
  // What the reconciler's connection published before this arrives before this.
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

it('a pass applies the newest revocations first, so that they do not wait for old ones', async () => {
  const ids = await recordMany();
  expect(await appliedWhile(pass)).toEqual(ids.map((id) => `grant:${id}`));
});

it('a pass broadcasts only revocations that are not marked as applied or that Redis had lost', async () => {
  const [known, lost, outstanding] = [await world.grant(), await world.grant(), await world.grant()];
  for (const id of [known, lost]) await world.recordRevocation(id);
  await pass();
  await world.redis.del(`grant:${lost}`);
  // Another process has told Redis, and died before it broadcast it.
  await world.recordRevocation(outstanding);
  await world.redis.hset(`grant:${outstanding}`, FIELD.status, STATUS.revoked);
  let changed = 0;
  expect((await heardWhile(async () => (changed = await pass()))).toSorted()).toEqual(
    [lost, outstanding].toSorted(),
  );
  expect(changed).toBe(1);
});

it('a pass broadcasts all of them when broadcasts were lost', async () => {
  const known = await world.grant();
  await world.recordRevocation(known);
  await pass();
  expect(await heardWhile(() => pass({ announceAll: true }))).toEqual([known]);
});

it('a pass marks what it applied, for all processes, so that later passes send no command for it', async () => {
  await recordMany();
  const began = await world.records.databaseTime();
  expect(await pass()).toBe(MANY);
  const since = (await world.records.databaseTime()) - began;
  // Another process applies it once more: it may be connected to another Redis.
  expect(await appliedWhile(() => pass({ since: -since - 1_000 }))).toHaveLength(MANY);
  expect(await appliedWhile(() => pass({ since: 0 }))).toEqual([]);
});

it('a pass marks again what Redis had lost, so that the next fail-over is covered too', async () => {
  const id = await world.grant();
  await world.recordRevocation(id);
  await pass();
  await world.pass(HOUR / 2);
  await world.redis.del(`grant:${id}`);
  expect(await pass()).toBe(1);
  expect(await appliedWhile(() => pass({ since: -HOUR / 4 }))).toEqual([`grant:${id}`]);
});

it('concurrent passes apply and mark everything, and do not deadlock', async () => {
  const ids = await recordMany();
  const changed = await Promise.all([pass(), pass(), pass()]);
  expect(changed.reduce((sum, one) => sum + one, 0)).toBe(MANY);
  expect(await world.isMarked(ids.at(-1) ?? '')).toBe(true);
});

it('a pass ends when Redis reconnects, and the next one begins with the newest revocations', async () => {
  const ids = await recordMany();
  expect(await appliedWhile(() => pass({ isObsolete: () => true }))).toEqual([]);
  expect(await appliedWhile(pass)).toEqual(ids.map((id) => `grant:${id}`));
});

it('a pass continues after failures, because only a part of Redis may be down', async () => {
  const ids = await recordMany();
  const away = ids.slice(0, 700);
  // No hash: every script on it fails.
  await world.redis.mset(Object.fromEntries(away.map((id) => [`grant:${id}`, 'no hash'])));
  await expect(pass()).rejects.toThrow('WRONGTYPE');
  for (const id of [ids[700], ids.at(-1)]) expect(await world.statusOf(id ?? '')).toBe('revoked');
  expect(await world.isMarked(ids[700] ?? '')).toBe(true);
  expect(await world.isMarked(ids[0] ?? '')).toBe(false);
  for (const id of away) await world.redis.del(`grant:${id}`);
  expect(await pass({ since: 0 })).toBe(700);
});
