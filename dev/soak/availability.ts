import { until } from '#testing/topology/until.js';
import { isRefusal, type Try } from './requests.js';
import type { Happening, Operation, Timeline } from './timeline.js';
import type { Violate } from './violations.js';

const RECOVERS_WITHIN_MS = 60_000;

export interface Counts {
  /** Answered: as asked, or refused for a reason. */
  answered: number;
  unavailable: number;
  unanswered: number;
}

/** How the operations that a fault made fail came back. */
export interface Recovery {
  readonly happening: Happening;
  readonly disturbed: Set<Operation>;
  /** Those whose last request failed: other copies may answer while the fault lasts. */
  readonly down: Set<Operation>;
  /** Milliseconds from the fault's end to the first answer, of what was down then or went down because of it later. */
  readonly first: Map<Operation, number>;
  /** Milliseconds from the fault's end until the last request was sent that failed because of it. */
  lastRefusal: number;
}

/** Holds that nothing fails without a fault that explains it, and counts what did. */
export class Availability {
  readonly counts = new Map<Operation, Counts>();
  readonly recoveries = new Map<Happening, Recovery>();

  constructor(
    private readonly timeline: Timeline,
    private readonly violate: Violate,
  ) {}

  seen(one: Try): void {
    const counts = this.counts.get(one.operation) ?? { answered: 0, unavailable: 0, unanswered: 0 };
    this.counts.set(one.operation, counts);
    if (one.status === 503) counts.unavailable += 1;
    else if (one.status === 0) counts.unanswered += 1;
    else counts.answered += 1;
    if (isRefusal(one)) this.refused(one);
    else this.answered(one);
  }

  /** Resolves when everything that these faults made fail is answered again. */
  async recovered(happenings: readonly Happening[], over: () => boolean): Promise<void> {
    const missing = () => happenings.flatMap((happening) => [...this.recoveryOf(happening).down]);
    await until('recovery', RECOVERS_WITHIN_MS, () => missing().length === 0 || over()).catch(() =>
      this.violate({
        rule: 'what a fault made fail is answered again within a minute',
        what: `not answered: ${[...new Set(missing())].join(', ')}`,
        from: this.timeline.now() - RECOVERS_WITHIN_MS,
        timed: true,
      }),
    );
  }

  private refused(one: Try): void {
    const { operation, place, sentAt, answeredAt, status } = one;
    const excuses = this.timeline.excuses(operation, place, sentAt, answeredAt);
    if (excuses.length === 0)
      this.violate({
        rule: 'nothing fails without a fault that explains it',
        tries: [one],
        from: sentAt,
        timed: true,
      });
    if (status === 503 && !isDeliberate(one))
      this.violate({ rule: 'a 503 is a deliberate one', tries: [one], from: sentAt });
    const lasting = excuses.filter(({ endedAt = Infinity }) => endedAt >= sentAt);
    for (const happening of lasting.length > 0 ? lasting : excuses.slice(-1)) {
      const recovery = this.recoveryOf(happening);
      recovery.disturbed.add(operation);
      // A command takes seconds to start, and nobody waits for it.
      if (operation !== 'delete a client') recovery.down.add(operation);
      const { endedAt = Infinity } = happening;
      if (sentAt > endedAt) recovery.lastRefusal = Math.max(recovery.lastRefusal, sentAt - endedAt);
    }
  }

  private answered({ operation, answeredAt }: Try): void {
    for (const { happening, down, first } of this.recoveries.values()) {
      if (!down.delete(operation)) continue;
      const { endedAt = Infinity } = happening;
      if (answeredAt > endedAt && !first.has(operation)) first.set(operation, answeredAt - endedAt);
    }
  }

  private recoveryOf(happening: Happening): Recovery {
    const known = this.recoveries.get(happening);
    if (known) return known;
    const recovery = {
      happening,
      disturbed: new Set<Operation>(),
      down: new Set<Operation>(),
      first: new Map<Operation, number>(),
      lastRefusal: 0,
    };
    this.recoveries.set(happening, recovery);
    return recovery;
  }
}

/** Whether a 503 says what the caller can do, in the shape of its endpoint. */
function isDeliberate({ headers, text, place }: Try): boolean {
  if (headers.get('retry-after') === null) return false;
  if (place.startsWith('authorize')) return /<h1>.*<code>[\w-]+<\/code>/s.test(text);
  const body = jsonOf(text);
  return place.startsWith('resource')
    ? body['status'] === 'error' && (body['error'] as { code?: string }).code === 'SERVICE_UNAVAILABLE'
    : body['error'] === 'temporarily_unavailable' && typeof body['error_reference'] === 'string';
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
