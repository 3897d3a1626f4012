/** Longer than any replica lags behind its master. */
const LAG_MS = 10 * 60 * 1000;
/** Longer than a transaction takes to its first write after its beginning, which is its `revoked_at`. */
const MARGIN_MS = 60 * 1000;
/** What nobody applied while no token app was running. */
const BEFORE_START_MS = 24 * 60 * 60 * 1000;

/**
 * How far back revocations have to be looked at: to the last pass that carried all of them out, further when what was
 * carried out may be lost again. Times are milliseconds of one monotonic clock.
 */
export class ReplayWindow {
  /** All that was revoked before this is carried out. */
  private done: number;
  /** What `#done` was for as long as replicas may lag, or longer: no fail-over can have lost that. */
  private safe: number;
  /** What `#safe` will be, and since when. */
  private next: { readonly done: number; readonly since: number };

  constructor(now: number) {
    this.done = now - BEFORE_START_MS;
    this.safe = this.done;
    this.next = { done: this.done, since: now };
  }

  /** How long ago the oldest revocation can have been that is still to be carried out. */
  age(now: number): number {
    return now - this.done + MARGIN_MS;
  }

  /** A pass is over that carried out all that was recorded before then. */
  passed(began: number, now: number): void {
    this.done = began;
    if (now - this.next.since < LAG_MS) return;
    this.safe = this.next.done;
    this.next = { done: this.done, since: now };
  }

  /** Another Redis serves now, or the same one without its last writes. */
  redisLost(now: number): void {
    this.done = this.safe;
    this.next = { done: this.safe, since: now };
  }

  /** Broadcasts may not have arrived. */
  broadcastsLost(now: number): void {
    this.done = Math.min(this.done, now - LAG_MS);
  }
}
