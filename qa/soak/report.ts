import type { Availability, Counts } from './availability.js';
import { FAULT_KINDS, faultName } from './plan.js';
import type { Operation, Timeline } from './timeline.js';

/** Milliseconds after the end of a fault. */
interface Times {
  readonly median: number;
  readonly max: number;
}

interface FaultFigures {
  readonly fault: string;
  readonly count: number;
  /** Times of the slowest affected operation; null if no operation failed. */
  readonly recovery: Times | null;
  /** Milliseconds from the end of the fault to the last request that failed because of it. */
  readonly lastFailure: number;
  readonly affected: readonly Operation[];
}

export interface ViolationReport {
  readonly rule: string;
  readonly timeDependent: boolean;
  readonly text: string;
}

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly faults: readonly FaultFigures[];
  readonly operations: readonly (Counts & { readonly operation: Operation })[];
  readonly statistics: Statistics;
  readonly violations: readonly ViolationReport[];
  readonly logs: string | null;
}

export function faultFigures(timeline: Timeline, availability: Availability): FaultFigures[] {
  return FAULT_KINDS.flatMap((kind) => {
    const windows = timeline.faultWindows.filter(({ fault }) => faultName(fault.kind) === faultName(kind));
    if (windows.length === 0) return [];
    const recoveries = windows.flatMap((window) => availability.recoveries.get(window) ?? []);
    const slowest = recoveries.flatMap(({ recoveryTimes }) =>
      recoveryTimes.size > 0 ? [Math.max(...recoveryTimes.values())] : [],
    );
    const affected = new Set(recoveries.flatMap((recovery) => [...recovery.affected]));
    return [
      {
        fault: faultName(kind),
        count: windows.length,
        recovery: slowest.length > 0 ? { median: medianOf(slowest), max: Math.max(...slowest) } : null,
        lastFailure: Math.max(0, ...recoveries.map(({ lastFailure }) => lastFailure)),
        affected: [...affected],
      },
    ];
  });
}

export function operationFigures({ counts }: Availability): Report['operations'] {
  return [...counts].map(([operation, figures]) => ({ operation, ...figures }));
}

export function textOf(report: Report): string {
  const { seed, seconds, faults, operations, statistics, violations, logs } = report;
  const count = faults.reduce((sum, fault) => sum + fault.count, 0);
  const requests = operations.reduce(
    (sum, operation) => sum + operation.answered + operation.unavailable + operation.unanswered,
    0,
  );
  return [
    `soak, seed ${seed}: ${count} faults and ${requests} requests in ${(seconds / 60).toFixed(1)} minutes, ${violations.length} violations`,
    '',
    table(
      ['fault', 'count', 'recovery: median', 'max', 'last failure', 'failed operations'],
      faults.map(({ fault, count, recovery, lastFailure, affected }) => [
        fault,
        String(count),
        recovery ? seconds2(recovery.median) : '–',
        recovery ? seconds2(recovery.max) : '–',
        seconds2(lastFailure),
        affected.length > 0 ? affected.join(', ') : 'none',
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

/** Descriptions of the counters, in the order of the report. */
const COUNTERS = {
  codeRaces: 'codes redeemed twice concurrently',
  codeReplays: 'codes replayed later',
  lostCodes: 'codes lost to a restart of Redis or a lost answer (the user clicks again)',
  parallelRefreshes: 'concurrent refreshes by several workers',
  retriedRefreshes: 'refreshes and polls repeated after no answer, and granted',
  lateRefreshes: 'refreshes and polls answered after the retry window',
  lateRefusals: '… and refused: the user authorizes again',
  refreshTokenReplays: 'refresh tokens and device codes replayed outside the retry window',
  replaysAcceptedAfterDataLoss: '… and accepted after Redis had lost its data',
  proofReplays: 'DPoP proofs sent twice',
  deviceGrants: 'grants of devices',
  idTokens: 'ID tokens',
  logOuts: 'log-outs',
  logoutTokens: 'logout tokens received',
  repeatedLogoutTokens: '… received again, with the same `jti`',
  revocations: 'revoked grants',
  events: 'events of revocations received',
  repeatedEvents: '… received again, with the same `jti`',
  revokedUsesRefused: 'uses of revoked tokens, refused',
  revokedUsesAccepted: '… and accepted by an API before the revocation reached it',
} as const;

function statisticRows({ latestAcceptedUse, ...statistics }: Statistics): string[][] {
  const latest = '… latest such use after the revocation, ';
  return [
    ...Object.entries(COUNTERS).map(([name, what]) => [
      what,
      String(statistics[name as keyof typeof COUNTERS]),
    ]),
    [`${latest}without a fault`, `${Math.round(latestAcceptedUse.withoutFault)} ms`],
    [`${latest}with a fault`, `${Math.round(latestAcceptedUse.withFault)} ms`],
  ];
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

export type Statistics = ReturnType<typeof newStatistics>;

export function newStatistics() {
  const counters = Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, 0]));
  return {
    ...(counters as Record<keyof typeof COUNTERS, number>),
    /** Milliseconds after the confirmation of a revocation. */
    latestAcceptedUse: { withoutFault: 0, withFault: 0 },
  };
}
