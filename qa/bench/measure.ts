import type { AppProcess } from '#test/support/app-process.js';
import { readFile } from 'node:fs/promises';
import { descendantsOf } from '#test/support/process-tree.js';
import autocannon from 'autocannon';

export interface Figures {
  readonly name: string;
  /** Sequential requests. */
  readonly alone: Timing;
  /** Concurrent requests that saturate the machine. */
  readonly busy: Timing;
  /** CPU milliseconds per request, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Round trips per request, by server. */
  readonly calls: Readonly<Record<string, number>>;
  readonly memory: Usage['memory'];
}

export const CONNECTIONS = 16;
/** Number of requests that are never sent, because each connection of a measurement prepares one too many. */
const SPARE = 2 * CONNECTIONS + 4;

/** Measures all cases. Reports progress on stderr. */
export async function measureAll<Name extends string>(
  cases: Readonly<Record<Name, Case>>,
  apps: readonly AppProcess[],
  seconds: number,
): Promise<Record<Name, Figures>> {
  const figures: Record<string, Figures> = {};
  for (const [name, subject] of Object.entries<Case>(cases)) {
    const measured = await measure(subject, apps, seconds);
    process.stderr.write(`${name}: ${Math.round(measured.busy.perSecond)}/s\n`);
    figures[name] = measured;
  }
  return figures;
}

/**
 * Warms up, then measures sequential requests, then concurrent requests.
 * @param seconds duration of the concurrent requests, unless `most` limits their number
 */
async function measure(subject: Case, apps: readonly AppProcess[], seconds: number): Promise<Figures> {
  const most = subject.most?.() ?? Infinity;
  const isEndless = most === Infinity;
  const [warm, single] = [Math.floor(most * 0.2), isEndless ? 300 : Math.floor(most * 0.1)];
  // V8 needs thousands of requests to optimize a path.
  await load(subject, CONNECTIONS, isEndless ? { seconds: seconds / 2 } : { amount: warm });
  const alone = await load(subject, 1, { amount: single });
  const before = await usageOf(apps);
  const remaining = most - warm - single - SPARE;
  const busy = await load(subject, CONNECTIONS, isEndless ? { seconds } : { amount: remaining });
  const after = await usageOf(apps);
  return {
    name: subject.name,
    alone,
    busy,
    cpu: perRequest(before.cpu, after.cpu, busy.requests),
    calls: perRequest(before.calls, after.calls, busy.requests),
    memory: after.memory,
  };
}

export interface Usage {
  readonly cpu: Readonly<Record<string, number>>;
  /** Numbers of commands that the apps sent to Redis, PostgreSQL and NATS. */
  readonly calls: Readonly<Record<string, number>>;
  /** Resident memory in bytes. */
  readonly memory: Readonly<Record<string, number>>;
}

// Linux counts a process's time in hundredths of a second (USER_HZ).
const TICK_MS = 10;
const SERVERS = { postgresql: /^\S*postgres\b/, redis: /^\S*redis-server\b/, nats: /^\S*nats-server\b/ };

/** Reads the metrics of the apps, and the servers' CPU times from /proc. */
export async function usageOf(apps: readonly AppProcess[]): Promise<Usage> {
  const cpu: Record<string, number> = await serverTimes();
  const calls: Record<string, number> = { redis: 0, postgresql: 0, nats: 0 };
  const memory: Record<string, number> = {};
  for (const { name, internalUrl } of apps) {
    const text = await (await fetch(`${internalUrl}/metrics`)).text();
    cpu[name] = sum(text, /^process_cpu_seconds_total(?:\{.*\})? (\S+)$/gm) * 1000;
    memory[name] = sum(text, /^process_resident_memory_bytes(?:\{.*\})? (\S+)$/gm);
    for (const system of ['redis', 'postgresql'])
      calls[system] =
        (calls[system] ?? 0) + sum(text, count('db_client_operation', `db_system_name="${system}"`));
    calls['nats'] = (calls['nats'] ?? 0) + sum(text, count('messaging_client_operation', ''));
  }
  return { cpu, calls, memory };
}

const count = (metric: string, label: string): RegExp =>
  new RegExp(`^${metric}_duration_seconds_count\\{.*${label}.*\\} (\\S+)$`, 'gm');

function sum(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
}

async function serverTimes(): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const { pid, command } of await descendantsOf(process.pid)) {
    const server = Object.entries(SERVERS).find(([, pattern]) => pattern.test(command))?.[0];
    if (server) times[server] = (times[server] ?? 0) + (await cpuOf(pid));
  }
  return times;
}

/** Returns the CPU milliseconds since the start of the process, 0 for a process that has ended. */
async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (!stat) return 0;
  // Skips the process name, which may contain any character. utime and stime are fields 14 and 15 (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function perRequest(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  requests: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, Math.max(0, value - (before[name] ?? 0)) / requests]),
  );
}

export function highestMemory(usages: readonly Pick<Usage, 'memory'>[]): Usage['memory'] {
  const highest: Record<string, number> = {};
  for (const { memory } of usages)
    for (const [app, bytes] of Object.entries(memory)) highest[app] = Math.max(highest[app] ?? 0, bytes);
  return highest;
}

/** A kind of request. Each request may differ, because codes are single-use. */
export interface Case {
  readonly name: string;
  readonly url: string;
  /** Expected status. Any other status fails the measurement. */
  readonly status: number;
  /** Maximum number of requests; absent means unlimited. */
  readonly most?: () => number;
  readonly next: () => autocannon.Request;
  readonly answered?: (body: string) => void;
}

export interface Timing {
  readonly requests: number;
  readonly perSecond: number;
  /** In milliseconds, like p99. */
  readonly p50: number;
  readonly p99: number;
}

/** Sends requests sequentially on each connection. @throws Error for an unexpected response */
export async function load(
  { name, url, status, next, answered }: Case,
  connections: number,
  length: { readonly amount: number } | { readonly seconds: number },
): Promise<Timing> {
  const times: number[] = [];
  const wrong = new Map<number, number>();
  const start = performance.now();
  let end = start;
  const options: autocannon.Options = {
    url,
    connections,
    ...('amount' in length ? { amount: Math.max(length.amount, connections) } : { duration: length.seconds }),
    requests: [
      {
        setupRequest: (request) => ({ ...request, ...next() }),
        onResponse: (_status, body) => answered?.(body),
      },
    ],
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error: unknown, done) =>
      error instanceof Error ? reject(error) : resolve(done),
    );
    instance.on('response', (_client, answer, _bytes, time) => {
      // Measures times here: autocannon's histogram has a resolution of 1 ms, and its end time is up to a second late.
      times.push(time);
      end = performance.now();
      if (answer !== status) wrong.set(answer, (wrong.get(answer) ?? 0) + 1);
    });
  });
  if (wrong.size > 0 || result.errors > 0)
    throw new Error(`${name}: ${result.errors} errors, other answers ${JSON.stringify([...wrong])}`);
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;
  const perSecond = (times.length / (end - start)) * 1000;
  return { requests: times.length, perSecond, p50: at(0.5), p99: at(0.99) };
}
