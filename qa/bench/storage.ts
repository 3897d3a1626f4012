import type { Fixture } from '#test/support/fixture.js';

/** Sizes in bytes. */
export interface Storage {
  /** All data that an active grant adds to Redis. */
  readonly grantInRedis: number;
  readonly sessionInRedis: number;
  /** A row and its share of the indexes. */
  readonly grantInPostgres: number;
}

/** Returns the bytes of the stored data, excluding Redis's buffers and caches. */
export async function redisBytes({ redis }: Fixture): Promise<number> {
  const stats = fieldsOf(await redis.memory('STATS'));
  const tables = [...stats].filter(([name]) => name.startsWith('db.')).map(([, fields]) => fieldsOf(fields));
  const bytesOf = (fields: ReadonlyMap<string, unknown>, name: string) => Number(fields.get(name) ?? 0);
  return tables.reduce(
    (sum, table) =>
      sum + bytesOf(table, 'overhead.hashtable.main') + bytesOf(table, 'overhead.hashtable.expires'),
    bytesOf(stats, 'dataset.bytes'),
  );
}

/** Parses a RESP2 map, which is a list of alternating names and values. */
function fieldsOf(reply: unknown): Map<string, unknown> {
  const flat = reply as readonly unknown[];
  return new Map(flat.flatMap((name, n) => (n % 2 === 0 ? [[String(name), flat[n + 1]]] : [])));
}

/** @param before result of `redisBytes` before the grants were created @param grants number of these grants */
export async function grantBytes(
  fixture: Fixture,
  before: number,
  grants: number,
): Promise<Pick<Storage, 'grantInRedis' | 'grantInPostgres'>> {
  await fixture.sql('VACUUM FULL grants');
  const [row] = await fixture.sql("SELECT pg_total_relation_size('grants') / count(*) AS bytes FROM grants");
  return {
    grantInRedis: ((await redisBytes(fixture)) - before) / grants,
    grantInPostgres: Number((row as { bytes: string }).bytes),
  };
}

export async function sessionBytes({ redis }: Fixture): Promise<number> {
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', 'session:*', 'COUNT', 1000);
    if (keys[0]) return (await redis.memory('USAGE', keys[0])) ?? NaN;
    if (next === '0') return NaN;
    cursor = next;
  }
}
