import { arch, cpus, totalmem } from 'node:os';
import { CONNECTIONS, type Figures, type Usage } from './measure.js';
import { DAY, type Size, type Storage } from './sizing.js';
import { readFile, writeFile } from 'node:fs/promises';

export interface Report {
  readonly figures: Readonly<Record<string, Figures>>;
  readonly storage: Storage;
  readonly memory: Readonly<Record<'atRest' | 'highest' | 'afterLoad', Usage['memory']>>;
  readonly sizes: readonly Size[];
  readonly loadBefore: number;
}

const PROCESSES = ['authorize', 'token', 'resource', 'redis', 'postgresql', 'nats'];
const number = (value: number) => Math.round(value).toLocaleString('en').replaceAll(',', ' ');
const short = (value: number) => (value < 0.05 ? '–' : value.toFixed(value < 10 ? 1 : 0));
const coresOf = (value: number) => (value < 0.1 ? 'below 0.1 cores' : `${value.toFixed(1)} cores`);
const bytes = (value: number) =>
  value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${number(Math.max(1, value / 1e6))} MB`;

export function reportOf({ figures, storage, memory, sizes, loadBefore }: Report): string {
  const all = Object.values(figures);
  const cpu = (name: string, process: string) => figures[name]?.cpu[process] ?? NaN;
  const ratios = [
    [
      '`/v2/me`: unknown token to known token, CPU of resource',
      cpu('unknown', 'resource') / cpu('known', 'resource'),
    ],
    ['refresh to code, CPU of token', cpu('refresh', 'token') / cpu('redeem', 'token')],
    ['forged refresh token to a good one, CPU of token', cpu('forged', 'token') / cpu('refresh', 'token')],
    ['login to the login page, CPU of authorize', cpu('login', 'authorize') / cpu('loginPage', 'authorize')],
  ] as const;
  const model = cpus()[0]?.model.trim() ?? arch();
  return `
Measured ${new Date().toISOString().slice(0, 10)} on ${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, load before
the start ${loadBefore.toFixed(1)}: one replica of each app and server and the load generator share these cores.

${table(
  ['request', 'per second', 'p50 alone', 'p50 busy', 'p99 busy', ...PROCESSES, 'Redis, SQL, NATS'],
  all.map(({ name, alone, busy, cpu: used, calls }) => [
    name,
    number(busy.perSecond),
    short(alone.p50),
    short(busy.p50),
    short(busy.p99),
    ...PROCESSES.map((process) => short(used[process] ?? 0)),
    ['redis', 'postgresql', 'nats'].map((system) => short(calls[system] ?? 0)).join(', '),
  ]),
)}

Times in milliseconds, _busy_ on ${CONNECTIONS} connections; under each process its CPU milliseconds per request; then round trips per request.

${table(
  ['compared', 'ratio'],
  ratios.map(([what, ratio]) => [what, ratio.toFixed(2)]),
)}

${table(
  ['memory of a replica', 'at rest', 'highest under load', 'after the load'],
  ['authorize', 'token', 'resource'].map((app) => [
    app,
    ...[memory.atRest, memory.highest, memory.afterLoad].map((usage) => bytes(usage[app] ?? 0)),
  ]),
)}

_At rest_ is half a minute after the start, _after the load_ half a minute after the last request.

${table(
  ['stored', 'bytes'],
  [
    ['a live grant, in Redis', number(storage.grantInRedis)],
    ['a login session, in Redis', number(storage.sessionInRedis)],
    ['a grant, in PostgreSQL with its indexes', number(storage.grantInPostgres)],
  ],
)}

Derived from these figures: each user is connected to one application that refreshes ${DAY.refreshes} times and calls the API ${DAY.apiCalls} times a day, always with
a token that the replica has not cached; ${DAY.logins * 100} of 100 users log in and click _Allow_ each day; the peak is three times the mean:

${table(
  [
    'users',
    'logins per day',
    'peak requests per second',
    'authorize',
    'token',
    'resource',
    'Redis',
    'PostgreSQL',
    'NATS',
  ],
  sizes.map(({ users, loginsADay, requestsAtPeak, replicas, cores, redis, disk }) => [
    number(users),
    number(loginsADay),
    number(requestsAtPeak),
    ...Object.values(replicas).map((count) => `${count}`),
    `${bytes(redis)}, ${coresOf(cores.redis)}`,
    `${bytes(disk)}, ${coresOf(cores.postgresql)}`,
    coresOf(cores.nats),
  ]),
)}

Under the apps: replicas with one core at 70 %, at least three.
`;
}

export async function writeReport(report: string): Promise<void> {
  const path = 'docs/sizing.md';
  const page = await readFile(path, 'utf8');
  const [start, end] = ['<!-- bench -->\n', '<!-- /bench -->'];
  const [from, to] = [page.indexOf(start) + start.length, page.indexOf(end)];
  if (from < start.length || to < from) throw new Error(`${path} has no place for figures: ${start.trim()}`);
  await writeFile(path, `${page.slice(0, from)}${report}\n${page.slice(to)}`);
}

/** Returns a Markdown table with numbers in all columns except the first. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}
