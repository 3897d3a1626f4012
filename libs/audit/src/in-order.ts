import type { AuditEvent } from './event.js';

/**
 * Minimum number of remembered ids. Duplicates are close together: a process resends unconfirmed events as soon as NATS
 * is available.
 */
const REMEMBERED = 200_000;

/**
 * Maximum milliseconds by which a stream is out of order, unless NATS was unavailable: processes send batches, and
 * retry every second.
 */
const DISORDER_MS = 5_000;
const SORTED_TOGETHER = 1_000;

/** Sorts a nearly ordered stream of events by time, in bounded memory. */
export async function* sorted(events: AsyncIterable<AuditEvent>): AsyncGenerator<AuditEvent> {
  const waiting: AuditEvent[] = [];
  let newest = '';
  let next = SORTED_TOGETHER;
  for await (const event of events) {
    waiting.push(event);
    if (event.time > newest) newest = event.time;
    if (waiting.length < next) continue;
    waiting.sort(byTime);
    const settled = new Date(Date.parse(newest) - DISORDER_MS).toISOString();
    const first = waiting.findIndex(({ time }) => time >= settled);
    yield* waiting.splice(0, first);
    next = 2 * Math.max(waiting.length, SORTED_TOGETHER);
  }
  yield* waiting.sort(byTime);
}

/** Compares times as text, because all times are ISO 8601 in UTC with milliseconds. */
const byTime = (a: AuditEvent, b: AuditEvent): number => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0);

export async function* inOrder(streams: readonly AsyncGenerator<AuditEvent>[]): AsyncGenerator<AuditEvent> {
  const next = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    let oldest = -1;
    let time = '';
    next.forEach((result, index) => {
      if (result.done || (oldest >= 0 && result.value.time >= time)) return;
      oldest = index;
      time = result.value.time;
    });
    const [result, stream] = [next[oldest], streams[oldest]];
    if (!stream || !result || result.done) return;
    yield result.value;
    next[oldest] = await stream.next();
  }
}

export class RecentIds {
  private current = new Set<string>();
  private previous = new Set<string>();

  add(id: string): boolean {
    if (this.current.has(id) || this.previous.has(id)) return false;
    if (this.current.size >= REMEMBERED) {
      this.previous = this.current;
      this.current = new Set();
    }
    this.current.add(id);
    return true;
  }
}
