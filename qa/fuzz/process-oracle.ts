import { parseObject } from '#local/demo/exchange.js';
import type { Finding } from './answer-oracle.js';
import { type KnownSecrets, traceIn } from './leaks.js';
import { APPS, type FuzzedApp, type MemoryOfApps } from './test-environment.js';

interface Entry {
  readonly level?: number;
  readonly context?: string;
  readonly res?: { readonly statusCode?: number };
  readonly err?: { readonly type?: string };
}

export function checkLogLine(app: FuzzedApp, line: string, secrets: Pick<KnownSecrets, 'in'>): Finding[] {
  const where = `log of ${app}`;
  const found: Finding[] = [];
  for (const kind of new Set(secrets.in(line).values()))
    found.push({ rule: `${kind} in a log line`, where, detail: line });
  const { level, context = '', res, err } = parseObject(line) as Entry;
  // Warnings of Node and crash messages have no level.
  if (level === undefined) found.push({ rule: 'line that is not a log entry', where, detail: line });
  // The log entry of a 503, or of an unavailability error over NATS, contains a stack for the operator.
  const isOutage = res?.statusCode === 503 || (err?.type ?? '').endsWith('UnavailableError');
  if (isOutage || traceIn(line) === undefined) return found;
  // Findings differ by the place in the product's code, because messages vary.
  const place = /at ([^\s(]+) [^\n]{0,40}?\/dist\//.exec(line)?.[1] ?? context;
  return [...found, { rule: `stack trace or path in a log line, ${place}`, where, detail: line }];
}

const MIB = 2 ** 20;
/** In bytes. Live memory may grow by this much, because bounded caches may still fill. */
const MAX_LIVE_GROWTH = 12 * MIB;
/** In bytes. Resident memory may grow by this much, because allocators keep a multiple of freed memory. */
const MAX_RSS_GROWTH = 160 * MIB;

export function checkMemory(before: MemoryOfApps, after: MemoryOfApps): Finding[] {
  return APPS.flatMap((app) => {
    const live = after[app].live - before[app].live;
    const resident = after[app].rss - before[app].rss;
    if (live <= MAX_LIVE_GROWTH && resident <= MAX_RSS_GROWTH) return [];
    const detail = `${mib(live)} more on the heap and in buffers, ${mib(resident)} more resident`;
    return [{ rule: 'memory is not released', where: app, detail }];
  });
}

export function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
