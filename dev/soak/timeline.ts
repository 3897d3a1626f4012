import { setTimeout as sleep } from 'node:timers/promises';
import { type Copy, type Fault, nameOf } from './plan.js';

export type Operation =
  | 'page'
  | 'log in'
  | 'allow'
  | 'revoke at /auth/apps'
  | 'log out everywhere'
  | 'redeem'
  | 'refresh'
  | 'revoke'
  | 'introspect'
  | 'me'
  | 'me with DPoP'
  | 'delete a client';

/** Who carries an operation out: a copy of an app, or the operator's command line. */
export type Place = Copy | 'operator';

/** A fault as it happened. Times are milliseconds since the soak began. */
export interface Happening {
  readonly number: number;
  readonly fault: Fault;
  readonly beganAt: number;
  /** When what was done was undone. */
  endedAt?: number;
  /** From when on it excuses nothing any more. */
  settledAt?: number;
}

/** A revocation reaches every API in milliseconds; a busy machine is given more. */
export const CALM_MS = 2_000;
/** Beyond what is promised, for a busy machine. */
const SLACK_MS = 2_000;
/** For how long an API believes its cache without word from NATS. */
const TRUST_MS = 5_000;
/** For how long it believes an entry at all. */
const CACHED_MS = 30_000;

/** Operations that need an answer over NATS, whichever copy of the token app gives it. */
const ASK_TOKEN_APP: readonly Operation[] = ['me', 'me with DPoP', 'delete a client'];

/** What happened when, and what it excuses. */
export class Timeline {
  readonly happenings: Happening[] = [];

  /** @param now milliseconds of a monotonic clock since the soak began */
  constructor(readonly now: () => number) {}

  begin(fault: Fault): Happening {
    const happening = { number: this.happenings.length + 1, fault, beganAt: this.now() };
    this.happenings.push(happening);
    return happening;
  }

  /** The faults that may have had an effect between two moments. */
  inEffect(from: number, to: number): Happening[] {
    return this.happenings.filter(
      ({ beganAt, settledAt }) => beganAt <= to && (settledAt === undefined || settledAt >= from),
    );
  }

  /** Resolves when no fault that has begun by now has an effect any more. */
  async settled(over: () => boolean): Promise<void> {
    const begun = [...this.happenings];
    while (!over() && begun.some(({ settledAt }) => settledAt === undefined || settledAt > this.now()))
      await sleep(100);
  }

  /** Whether Redis lost its data in between. */
  lostData(from: number, to: number): boolean {
    return this.redis(from, to, ['emptied']);
  }

  /** Whether Redis was started again in between: codes of before are refused. */
  restartedRedis(from: number, to: number): boolean {
    return this.redis(from, to, ['emptied', 'killed']);
  }

  /** The faults that explain why an operation was not carried out. */
  excuses(operation: Operation, place: Place, from: number, to: number): Happening[] {
    return this.inEffect(from, to).filter(({ fault }) => mayFail(fault, operation, place));
  }

  /** For how long after its revocation was answered an API may take a token, in milliseconds. */
  revocationTakes(askedAt: number, usedAt: number): number {
    const delays = this.inEffect(askedAt, usedAt).map(({ fault }) => delayOf(fault));
    return Math.max(CALM_MS, ...delays);
  }

  /** What happened in between, in words. */
  describe(from: number, to: number): string {
    const names = this.inEffect(from, to).map(({ number, fault, beganAt, endedAt, settledAt }) => {
      const times = [beganAt, endedAt, settledAt].map(seconds).join(', ');
      return `#${number} ${nameOf(fault.kind)}${fault.copy ? ` (${fault.copy})` : ''} [began, ended, settled: ${times}]`;
    });
    return names.length === 0 ? 'no fault' : names.join('; ');
  }

  private redis(from: number, to: number, kinds: readonly string[]): boolean {
    return this.happenings.some(
      ({ fault: { kind }, beganAt, endedAt = Infinity }) =>
        kind.target === 'redis' && kinds.includes(kind.what) && beganAt <= to && endedAt >= from,
    );
  }
}

/** Which operations a fault may make fail; all others have to be served as if nothing had happened. */
function mayFail({ kind, copy }: Fault, operation: Operation, place: Place): boolean {
  const asksTokenApp = ASK_TOKEN_APP.includes(operation);
  switch (kind.target) {
    case 'authorize':
    case 'token':
    case 'resource':
      // A graceful restart loses nothing.
      if (kind.what === 'restarted') return false;
      return (
        (copy === null ? place.startsWith(kind.target) : copy === place) ||
        (kind.target === 'token' && asksTokenApp)
      );
    case 'nats':
      return asksTokenApp && (copy === null || copy === place || copy.startsWith('token'));
    default:
      return copy === null || copy === place || (copy.startsWith('token') && asksTokenApp);
  }
}

/** By how much a fault may delay a revocation that was answered, in milliseconds. */
function delayOf({ kind, copy }: Fault): number {
  switch (kind.target) {
    case 'nats':
      // Who does not hear knows that, and believes nothing. Who is not heard goes on, and the others know nothing of it.
      return (copy === null || copy.startsWith('resource') ? TRUST_MS : CACHED_MS) + SLACK_MS;
    case 'authorize':
    case 'token':
      // It may have died between its answer and its broadcast. A graceful restart loses nothing.
      return kind.what === 'restarted' ? 0 : CACHED_MS + SLACK_MS;
    case 'resource':
      // It wakes up with what it believed when it was stopped.
      return TRUST_MS + SLACK_MS;
    default:
      return 0;
  }
}

export function seconds(ms: number | undefined): string {
  return ms === undefined ? '–' : `${(ms / 1000).toFixed(3)} s`;
}
