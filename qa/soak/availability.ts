import { parseObject } from '#local/demo/exchange.js';
import { until } from '#test/support/until.js';
import { type Attempt, isUnavailable, isUnconfirmed } from './requests.js';
import type { FaultWindow, Operation, Timeline } from './timeline.js';
import type { Violate } from './violations.js';

const RECOVERY_DEADLINE_MS = 60_000;

export interface Counts {
  /** Requests with any status except 503. */
  answered: number;
  unavailable: number;
  unanswered: number;
}

export interface Recovery {
  readonly faultWindow: FaultWindow;
  readonly affected: Set<Operation>;
  /** Operations whose latest request failed. During a fault, other replicas may still respond. */
  readonly failing: Set<Operation>;
  /** Milliseconds from the end of the fault to the first response other than 503. */
  readonly recoveryTimes: Map<Operation, number>;
  /** Milliseconds from the end of the fault to the last request that failed because of it. */
  lastFailure: number;
}

export class Availability {
  readonly counts = new Map<Operation, Counts>();
  readonly recoveries = new Map<FaultWindow, Recovery>();

  constructor(
    private readonly timeline: Timeline,
    private readonly violate: Violate,
  ) {}

  record(attempt: Attempt): void {
    const counts = this.counts.get(attempt.operation) ?? { answered: 0, unavailable: 0, unanswered: 0 };
    this.counts.set(attempt.operation, counts);
    if (attempt.status === 503) counts.unavailable += 1;
    else if (attempt.status === 0) counts.unanswered += 1;
    else counts.answered += 1;
    if (isUnavailable(attempt)) this.recordFailure(attempt);
    else this.recordSuccess(attempt);
  }

  async waitForRecovery(faultWindows: readonly FaultWindow[], hasEnded: () => boolean): Promise<void> {
    const failing = () => faultWindows.flatMap((faultWindow) => [...this.recoveryOf(faultWindow).failing]);
    await until('recovery', RECOVERY_DEADLINE_MS, () => failing().length === 0 || hasEnded()).catch(() =>
      this.violate({
        rule: 'operations recover within a minute after a fault',
        detail: `still failing: ${[...new Set(failing())].join(', ')}`,
        since: this.timeline.now() - RECOVERY_DEADLINE_MS,
        timeDependent: true,
      }),
    );
  }

  private recordFailure(attempt: Attempt): void {
    const { operation, servedBy, sentAt, answeredAt, status } = attempt;
    const causes = this.timeline.possibleCauses(operation, servedBy, sentAt, answeredAt);
    if (causes.length === 0)
      this.violate({
        rule: 'a fault explains every failure',
        attempts: [attempt],
        since: sentAt,
        timeDependent: true,
      });
    const isExpected = isUnconfirmed(attempt)
      ? this.timeline.mayLeaveUnconfirmed(sentAt, answeredAt)
      : hasUnavailableFormat(attempt);
    if (status === 503 && !isExpected)
      this.violate({
        rule: 'a 503 has Retry-After and the format of its endpoint',
        attempts: [attempt],
        since: sentAt,
      });
    const active = causes.filter(({ endedAt = Infinity }) => endedAt >= sentAt);
    for (const faultWindow of active.length > 0 ? active : causes.slice(-1)) {
      const recovery = this.recoveryOf(faultWindow);
      recovery.affected.add(operation);
      // Recovery does not wait for the command line, which takes seconds to start.
      if (operation !== 'delete a client') recovery.failing.add(operation);
      const { endedAt = Infinity } = faultWindow;
      if (sentAt > endedAt) recovery.lastFailure = Math.max(recovery.lastFailure, sentAt - endedAt);
    }
  }

  private recordSuccess({ operation, answeredAt }: Attempt): void {
    for (const { faultWindow, failing, recoveryTimes } of this.recoveries.values()) {
      if (!failing.delete(operation)) continue;
      const { endedAt = Infinity } = faultWindow;
      if (answeredAt > endedAt && !recoveryTimes.has(operation))
        recoveryTimes.set(operation, answeredAt - endedAt);
    }
  }

  private recoveryOf(faultWindow: FaultWindow): Recovery {
    const known = this.recoveries.get(faultWindow);
    if (known) return known;
    const recovery = {
      faultWindow,
      affected: new Set<Operation>(),
      failing: new Set<Operation>(),
      recoveryTimes: new Map<Operation, number>(),
      lastFailure: 0,
    };
    this.recoveries.set(faultWindow, recovery);
    return recovery;
  }
}

function hasUnavailableFormat({ headers, text, servedBy }: Attempt): boolean {
  if (headers.get('retry-after') === null) return false;
  if (servedBy.startsWith('authorize')) return /<h1>.*<code>[\w-]+<\/code>/s.test(text);
  const body = parseObject(text);
  return servedBy.startsWith('resource')
    ? body['status'] === 'error' && (body['error'] as { code?: string }).code === 'SERVICE_UNAVAILABLE'
    : body['error'] === 'temporarily_unavailable' && typeof body['error_reference'] === 'string';
}
