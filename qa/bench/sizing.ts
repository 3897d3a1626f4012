import type { Figures } from './measure.js';
import type { Fixture } from '#test/support/fixture.js';

/** Requests per connected user and day. Change the numbers and run `npm run bench` for other sizes. */
export const DAY = { logins: 0.1, refreshes: 24, apiCalls: 24 };
/** Ratio of the busiest hour to the average hour. */
const PEAK = 3;
/** Target utilization of the autoscalers. */
const UTILIZATION = 0.7;
/** Minimum number of replicas in k8s/overlays/production: one per zone. */
const LEAST = 3;
/** Factor for expired rows, dead tuples and growth. */
const ROOM = 2;
const ROWS = [10_000, 100_000, 1_000_000, 10_000_000];
const APPS = ['authorize', 'token', 'resource'] as const;
const SERVERS = ['redis', 'postgresql', 'nats'] as const;

export interface Size {
  readonly users: number;
  readonly loginsADay: number;
  readonly requestsAtPeak: number;
  /** Numbers of replicas with one core each. */
  readonly replicas: Readonly<Record<(typeof APPS)[number], number>>;
  readonly cores: Readonly<Record<(typeof SERVERS)[number], number>>;
  /** In bytes, like `disk`. */
  readonly redis: number;
  readonly disk: number;
}

export function sizesFrom(figures: Readonly<Record<string, Figures>>, storage: Storage): Size[] {
  const login = ['start', 'loginPage', 'login', 'consent', 'allow', 'redeem'];
  const day: [string, number][] = [
    ...login.map((name): [string, number] => [name, DAY.logins]),
    ['refresh', DAY.refreshes],
    ['unknown', DAY.apiCalls],
  ];
  return ROWS.map((users) => {
    const aSecond = (perDay: number) => (users * perDay * PEAK) / 86_400;
    const cores = (process: string) =>
      day.reduce(
        (all, [name, times]) => all + (aSecond(times) * (figures[name]?.cpu[process] ?? 0)) / 1000,
        0,
      );
    const each = <N extends string>(names: readonly N[], valueOf: (name: N) => number) =>
      Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<N, number>;
    return {
      users,
      loginsADay: users * DAY.logins,
      requestsAtPeak: day.reduce((all, [, times]) => all + aSecond(times), 0),
      replicas: each(APPS, (name) => Math.max(LEAST, Math.ceil(cores(name) / UTILIZATION))),
      cores: each(SERVERS, cores),
      redis: users * (storage.grantInRedis + DAY.logins * storage.sessionInRedis),
      disk: users * storage.grantInPostgres * ROOM,
    };
  });
}

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
