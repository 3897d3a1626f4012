import type { AppProcess } from '#test/support/app-process.js';
import { type Case, load, type Timing } from './load.js';
import { readFile } from 'node:fs/promises';
import { descendantsOf } from '#test/support/process-tree.js';

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
    if (server) times[server] = (times[server] ?? 0) + (await cpuOf([pid]));
  }
  return times;
}

/** Returns the CPU milliseconds since the start of the processes. A process that has ended counts as 0. */
export function cpuOf(pids: readonly number[]): Promise<number> {
  return timesIn(pids.map((pid) => `/proc/${pid}/stat`));
}

export function mainThreadCpuOf(pids: readonly number[]): Promise<number> {
  return timesIn(pids.map((pid) => `/proc/${pid}/task/${pid}/stat`));
}

async function timesIn(files: readonly string[]): Promise<number> {
  let ticks = 0;
  for (const file of files) {
    const stat = await readFile(file, 'utf8').catch(() => undefined);
    if (!stat) continue;
    // Skips the process name, which may contain any character. utime and stime are fields 14 and 15
    // (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
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
