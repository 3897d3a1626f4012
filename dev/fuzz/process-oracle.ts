import type { AppName } from '#testing/launch-app.js';
import type { Finding } from './answer-oracle.js';
import { type KnownSecrets, traceIn } from './leaks.js';
import { APPS, type MemoryOfApps } from './world.js';

/** What of an entry of the log decides what may stand in it. */
interface Entry {
  readonly level?: number;
  readonly context?: string;
  readonly res?: { readonly statusCode?: number };
  readonly err?: { readonly type?: string };
}

/** Holds a line that a process printed to every rule. */
export function judgeLine(app: AppName, line: string, secrets: Pick<KnownSecrets, 'in'>): Finding[] {
  const where = `log of ${app}`;
  const found: Finding[] = [];
  for (const kind of new Set(secrets.in(line).values()))
    found.push({ rule: `${kind} in a log line`, where, detail: line });
  const { level, context = '', res, err } = parse(line);
  // Warnings of the runtime, and the last words of a process.
  if (level === undefined) found.push({ rule: 'line that is no log entry', where, detail: line });
  // A deliberate 503, over NATS an error, tells the operator where a dependency failed.
  const isOutage = res?.statusCode === 503 || (err?.type ?? '').endsWith('UnavailableError');
  if (isOutage || traceIn(line) === undefined) return found;
  // By its place in our code: what is thrown there may have many words.
  const place = /at ([^\s(]+) [^\n]{0,40}?\/dist\//.exec(line)?.[1] ?? context;
  return [...found, { rule: `stack trace or path in a log line, ${place}`, where, detail: line }];
}

function parse(line: string): Entry {
  try {
    return (JSON.parse(line) as Entry | null) ?? {};
  } catch {
    return {};
  }
}

const MIB = 2 ** 20;
/** What caches of bounded size may still grow by. */
const LIVE = 12 * MIB;
/** Allocators keep what they once had: a multiple of it. */
const RESIDENT = 160 * MIB;

/** Whether what was used came back: what a process still holds after a forced collection, and what the system gave it. */
export function judgeMemory(before: MemoryOfApps, after: MemoryOfApps): Finding[] {
  return APPS.flatMap((app) => {
    const live = after[app].live - before[app].live;
    const resident = after[app].rss - before[app].rss;
    if (live <= LIVE && resident <= RESIDENT) return [];
    const detail = `${mib(live)} more on the heap and in buffers, ${mib(resident)} more resident`;
    return [{ rule: 'memory does not come back', where: app, detail }];
  });
}

export function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
