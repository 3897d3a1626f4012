import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { descendantsOf } from '#test/support/process-tree.js';
import { load } from '../load.js';
import { cpuOf, mainThreadCpuOf } from '../measure.js';
import { type Contestant, isExchange, type Route, ROUTES } from './contestants.js';

const run = promisify(execFile);

const CONNECTIONS = 32;
const ROUNDS = 3;
/**
 * Requests per round: enough for V8 to compile hot code, but few enough that their codes are created within seconds.
 */
const AMOUNT = { warm: 1_500, alone: 300, busy: 3_000 } as const;

/** Medians of all rounds of one contestant on one route. */
export interface Comparison {
  readonly contestant: string;
  readonly route: Route;
  readonly perSecond: number;
  /** In milliseconds, with 32 connections. */
  readonly p50: number;
  readonly p99: number;
  /** In milliseconds, with one connection. */
  readonly unloadedP50: number;
  /** CPU seconds per 1,000 requests, including Redis. */
  readonly cpu: number;
  /** CPU seconds of the contestant's main threads per 1,000 requests. */
  readonly main: number;
}

type Round = Omit<Comparison, 'contestant' | 'route'>;

/**
 * Alternates between routes and contestants, so that other load on the machine affects all of them.
 * @param onProgress receives a fraction from 0 to 1
 */
export async function compare(
  contestants: readonly Contestant[],
  onProgress: (done: number, next: string) => void,
): Promise<Comparison[]> {
  const redis = (await descendantsOf(process.pid)).filter(({ command }) =>
    /^\S*redis-server\b/.test(command),
  );
  const steps = ROUTES.flatMap((route) =>
    contestants.flatMap((contestant) => {
      const subject = contestant.cases[route];
      return subject ? [{ contestant, route, subject }] : [];
    }),
  );
  const rounds = new Map(steps.map((step) => [step, [] as Round[]]));
  const all = ROUNDS * steps.length;
  for (let done = 0; done < all; done++) {
    const step = steps[done % steps.length];
    if (!step) break;
    const { contestant, route, subject } = step;
    onProgress(done / all, subject.name);
    const spare = 2 * CONNECTIONS + 4;
    const needed = AMOUNT.warm + AMOUNT.alone + AMOUNT.busy + 3 * spare;
    if (isExchange(route)) await contestant.prepare(needed, route);
    await load(subject, CONNECTIONS, { amount: AMOUNT.warm });
    const alone = await load(subject, 1, { amount: AMOUNT.alone });
    const pids = [...contestant.pids, ...redis.map(({ pid }) => pid)];
    const before = await cpuOf(pids);
    const mainBefore = await mainThreadCpuOf(contestant.pids);
    const busy = await load(subject, CONNECTIONS, { amount: AMOUNT.busy * (isExchange(route) ? 1 : 4) });
    const cpu = ((await cpuOf(pids)) - before) / busy.requests;
    const main = ((await mainThreadCpuOf(contestant.pids)) - mainBefore) / busy.requests;
    const { perSecond, p50, p99 } = busy;
    rounds.get(step)?.push({ perSecond, p50, p99, unloadedP50: alone.p50, cpu, main });
  }
  return [...rounds].map(([{ contestant, route }, measured]) => ({
    contestant: contestant.name,
    route,
    perSecond: median(measured.map((round) => round.perSecond)),
    p50: median(measured.map((round) => round.p50)),
    p99: median(measured.map((round) => round.p99)),
    unloadedP50: median(measured.map((round) => round.unloadedP50)),
    cpu: median(measured.map((round) => round.cpu)),
    main: median(measured.map((round) => round.main)),
  }));
}

/** Pins servers to core 0 and the load generator to core 1. @returns false if a second core or taskset is missing */
export async function pin(): Promise<boolean> {
  if (availableParallelism() < 2) return false;
  try {
    for (const { pid } of await descendantsOf(process.pid)) await run('taskset', ['-acp', '0', String(pid)]);
    await run('taskset', ['-acp', '1', String(process.pid)]);
    return true;
  } catch {
    return false;
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
