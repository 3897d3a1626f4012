import type { Fixture } from '#testing/fixture.js';

/** Bytes that one of each takes. */
export interface Storage {
  /** Everything in Redis that an active grant adds. */
  readonly grantInRedis: number;
  readonly sessionInRedis: number;
  /** A row and its share of the indexes. */
  readonly grantInPostgres: number;
}

/** Bytes in Redis; take it before grants are made. */
export async function redisBytes({ redis }: Fixture): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

/** @param before of `redisBytes` @param grants made since */
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

/** Of the first session that is found. */
export async function sessionBytes({ redis }: Fixture): Promise<number> {
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', 'session:*', 'COUNT', 1000);
    if (keys[0]) return (await redis.memory('USAGE', keys[0])) ?? NaN;
    if (next === '0') return NaN;
    cursor = next;
  }
}
