import type { Availability, Counts } from './availability.js';
import type { Statistics } from './model.js';
import { KINDS, nameOf } from './plan.js';
import type { Operation, Timeline } from './timeline.js';

/** Milliseconds from a fault's end. */
interface Times {
  readonly median: number;
  readonly max: number;
}

export interface FaultFigures {
  readonly fault: string;
  readonly count: number;
  /** Until the slowest operation that it had made fail was answered; null when it made none fail. */
  readonly recovery: Times | null;
  /** Until the last request was sent that failed because of it. */
  readonly lastRefusal: number;
  readonly disturbed: readonly Operation[];
}

/** A violation, and what it takes to understand it. */
export interface ViolationReport {
  readonly rule: string;
  readonly timed: boolean;
  readonly text: string;
}

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly faults: readonly FaultFigures[];
  readonly operations: readonly (Counts & { readonly operation: Operation })[];
  readonly statistics: Statistics;
  readonly violations: readonly ViolationReport[];
  /** Where the logs are; null when there was nothing to look up. */
  readonly logs: string | null;
}

export function faultFigures(timeline: Timeline, availability: Availability): FaultFigures[] {
  return KINDS.flatMap((kind) => {
    const happened = timeline.happenings.filter(({ fault }) => nameOf(fault.kind) === nameOf(kind));
    if (happened.length === 0) return [];
    const recoveries = happened.flatMap((one) => availability.recoveries.get(one) ?? []);
    const slowest = recoveries.flatMap(({ first }) => (first.size > 0 ? [Math.max(...first.values())] : []));
    const disturbed = new Set(recoveries.flatMap((recovery) => [...recovery.disturbed]));
    return [
      {
        fault: nameOf(kind),
        count: happened.length,
        recovery: slowest.length > 0 ? { median: medianOf(slowest), max: Math.max(...slowest) } : null,
        lastRefusal: Math.max(0, ...recoveries.map(({ lastRefusal }) => lastRefusal)),
        disturbed: [...disturbed],
      },
    ];
  });
}

export function operationFigures({ counts }: Availability): Report['operations'] {
  return [...counts].map(([operation, figures]) => ({ operation, ...figures }));
}

/** For people. */
export function textOf(report: Report): string {
  const { seed, seconds, faults, operations, statistics, violations, logs } = report;
  const count = faults.reduce((sum, one) => sum + one.count, 0);
  const requests = operations.reduce((sum, one) => sum + one.answered + one.unavailable + one.unanswered, 0);
  return [
    `soak, seed ${seed}: ${count} faults and ${requests} requests in ${(seconds / 60).toFixed(1)} minutes, ${violations.length} violations`,
    '',
    table(
      ['fault', 'count', 'recovery: median', 'max', 'last refusal', 'what it made fail'],
      faults.map(({ fault, count, recovery, lastRefusal, disturbed }) => [
        fault,
        String(count),
        recovery ? seconds2(recovery.median) : '–',
        recovery ? seconds2(recovery.max) : '–',
        seconds2(lastRefusal),
        disturbed.length > 0 ? disturbed.join(', ') : 'nothing',
      ]),
    ),
    '',
    table(
      ['request', 'answered', '503', 'no answer'],
      operations.map(({ operation, answered, unavailable, unanswered }) =>
        [operation, answered, unavailable, unanswered].map(String),
      ),
    ),
    '',
    table(['observed', ''], statisticRows(statistics)),
    ...violations.flatMap(({ text }) => ['', text]),
    ...(logs === null ? [] : ['', `logs: ${logs}`]),
    '',
  ].join('\n');
}

function statisticRows(statistics: Statistics): string[][] {
  const { latestUse } = statistics;
  return [
    ['codes redeemed twice at once', statistics.codeRaces],
    ['codes redeemed again later', statistics.codeReplays],
    ['codes lost to a restart of Redis or a lost answer (the user clicks again)', statistics.lostCodes],
    ['refreshes by several workers at once', statistics.parallelRefreshes],
    ['refreshes repeated after no answer, and granted', statistics.retriedRefreshes],
    ['refreshes answered after the retry window', statistics.lateRefreshes],
    ['… and refused: the user authorizes again', statistics.lateLogouts],
    ['old refresh tokens presented', statistics.reuses],
    ['… and accepted after Redis had lost its data', statistics.reusesTaken],
    ['DPoP proofs sent twice', statistics.proofReplays],
    ['revoked grants', statistics.revocations],
    ['uses of revoked tokens, refused', statistics.usesRefused],
    ['… and accepted by an API that did not know yet', statistics.usesTaken],
    ['… latest such use after the revocation, without a fault', `${Math.round(latestUse.calm)} ms`],
    ['… latest such use after the revocation, with a fault', `${Math.round(latestUse.disturbed)} ms`],
  ].map(([what, figure]) => [String(what), String(figure)]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function seconds2(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}
