import type { AuditEvent } from './event.js';

/** A repetition follows soon: a process repeats what NATS did not confirm when NATS is back. */
const REMEMBERED = 200_000;

/** Merges streams of events, each of them ordered, by the time of the events. */
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

/** Recognizes repetitions, at bounded memory. */
export class RecentIds {
  private current = new Set<string>();
  private previous = new Set<string>();

  /** @returns false for an id that was added before */
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
