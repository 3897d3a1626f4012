import { setTimeout as sleep } from 'node:timers/promises';
import { type App, type Effect, type Fault, faultName, type ReplicaName } from './plan.js';

/** App that serves each operation of a client. */
export const APP_BY_OPERATION = {
  page: 'authorize',
  'log in': 'authorize',
  allow: 'authorize',
  'enter a device code': 'authorize',
  'allow a device': 'authorize',
  'revoke at /auth/apps': 'authorize',
  'log out': 'authorize',
  'log out everywhere': 'authorize',
  'request a device code': 'token',
  redeem: 'token',
  refresh: 'token',
  revoke: 'token',
  introspect: 'token',
  me: 'resource',
  'me with DPoP': 'resource',
} as const satisfies Record<string, App>;

export type ClientOperation = keyof typeof APP_BY_OPERATION;
export type Operation = ClientOperation | 'delete a client';

export type ServedBy = ReplicaName | 'operator';

/** Times are milliseconds since the soak began. */
export interface FaultWindow {
  readonly number: number;
  readonly fault: Fault;
  readonly startedAt: number;
  endedAt?: number;
  /** Time after which the fault no longer explains failures. */
  settledAt?: number;
}

/** Time for a broadcast to arrive. It usually takes milliseconds, but longer on a busy machine. */
export const PROPAGATION_MS = 2_000;
/** Added to each guaranteed time, to allow for a busy machine. */
const SLACK_MS = 2_000;
/** Time for which an API trusts its cache without NATS. */
const TRUST_WITHOUT_NATS_MS = 5_000;
const CACHE_ENTRY_LIFETIME_MS = 30_000;

/** Operations that require a response over NATS from a replica of the token app. */
const NEED_TOKEN_APP: readonly Operation[] = ['me', 'me with DPoP', 'delete a client'];

export class Timeline {
  readonly faultWindows: FaultWindow[] = [];

  /** @param now returns the milliseconds of a monotonic clock */
  constructor(readonly now: () => number) {}

  start(fault: Fault): FaultWindow {
    const faultWindow = { number: this.faultWindows.length + 1, fault, startedAt: this.now() };
    this.faultWindows.push(faultWindow);
    return faultWindow;
  }

  inEffect(from: number, to: number): FaultWindow[] {
    return this.faultWindows.filter(
      ({ startedAt, settledAt }) => startedAt <= to && (settledAt === undefined || settledAt >= from),
    );
  }

  /** Resolves when all current faults have settled. */
  async settled(hasEnded: () => boolean): Promise<void> {
    const started = [...this.faultWindows];
    while (!hasEnded() && started.some(({ settledAt }) => settledAt === undefined || settledAt > this.now()))
      await sleep(100);
  }

  lostData(from: number, to: number): boolean {
    return this.redisHad(['emptied'], from, to);
  }

  /** Returns true if Redis restarted. Codes from before the restart are rejected. */
  restartedRedis(from: number, to: number): boolean {
    return this.redisHad(['emptied', 'killed'], from, to);
  }

  possibleCauses(operation: Operation, servedBy: ServedBy, from: number, to: number): FaultWindow[] {
    return this.inEffect(from, to).filter(({ fault }) => mayFail(fault, operation, servedBy));
  }

  /** Returns true if Redis and NATS failed, so that a process could not tell the others which request it gave up. */
  mayLeaveUnconfirmed(from: number, to: number): boolean {
    const targets = new Set(this.inEffect(from, to).map(({ fault: { kind } }) => kind.target));
    return targets.has('redis') && targets.has('nats');
  }

  /** Returns the milliseconds after a confirmed revocation in which an API may still accept the token. */
  maxRevocationDelay(requestedAt: number, usedAt: number): number {
    const delays = this.inEffect(requestedAt, usedAt).map(({ fault }) => delayOf(fault));
    return Math.max(PROPAGATION_MS, ...delays);
  }

  describe(from: number, to: number): string {
    const names = this.inEffect(from, to).map(({ number, fault, startedAt, endedAt, settledAt }) => {
      const times = [startedAt, endedAt, settledAt].map(seconds).join(', ');
      return `#${number} ${faultName(fault.kind)}${fault.replica ? ` (${fault.replica})` : ''} [started, ended, settled: ${times}]`;
    });
    return names.length === 0 ? 'no fault' : names.join('; ');
  }

  private redisHad(effects: readonly Effect[], from: number, to: number): boolean {
    return this.faultWindows.some(
      ({ fault: { kind }, startedAt, endedAt = Infinity }) =>
        kind.target === 'redis' && effects.includes(kind.effect) && startedAt <= to && endedAt >= from,
    );
  }
}

/** Returns true if the operation may fail during the fault. Any other operation must succeed. */
function mayFail({ kind, replica }: Fault, operation: Operation, servedBy: ServedBy): boolean {
  const needsTokenApp = NEED_TOKEN_APP.includes(operation);
  switch (kind.target) {
    case 'authorize':
    case 'token':
    case 'resource':
      // A graceful restart causes no failures.
      if (kind.effect === 'restarted') return false;
      return (
        (replica === null ? servedBy.startsWith(kind.target) : replica === servedBy) ||
        (kind.target === 'token' && needsTokenApp)
      );
    case 'nats':
      return needsTokenApp && (replica === null || replica === servedBy || replica.startsWith('token'));
    default:
      return replica === null || replica === servedBy || (replica.startsWith('token') && needsTokenApp);
  }
}

function delayOf({ kind, replica }: Fault): number {
  switch (kind.target) {
    case 'nats':
      // An API detects that it is disconnected and stops trusting its cache, but cannot detect a disconnected sender.
      return (
        (replica === null || replica.startsWith('resource')
          ? TRUST_WITHOUT_NATS_MS
          : CACHE_ENTRY_LIFETIME_MS) + SLACK_MS
      );
    case 'authorize':
    case 'token':
      // The process may have died between its response and its broadcast. A graceful restart loses no broadcast.
      return kind.effect === 'restarted' ? 0 : CACHE_ENTRY_LIFETIME_MS + SLACK_MS;
    case 'resource':
      // A process that is resumed by SIGCONT still has old cache entries.
      return TRUST_WITHOUT_NATS_MS + SLACK_MS;
    default:
      return 0;
  }
}

export function seconds(ms: number | undefined): string {
  return ms === undefined ? '–' : `${(ms / 1000).toFixed(3)} s`;
}
