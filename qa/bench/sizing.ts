import type { Figures } from './measure.js';
import type { Storage } from './storage.js';

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
