import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, pairOf, type RetryingClient, type UserBrowser } from './retrying-client.js';
import type { Pair } from '../support/tokens.js';

const PAUSE_MS = 40;
/** The load ends after this many faults. */
export const MAX_FAULTS = 10;

/** The effects of a fail-over on users and applications. */
export interface Report {
  /** Requests that succeeded, with or without retries. */
  served: number;
  /** Requests that succeeded after a 503. */
  delayed: number;
  /** The longest time until an answer, in milliseconds. */
  longest: number;
  /** Unexpected answers, such as invalid_grant for a live grant. */
  faults: string[];
  redeemed: string[];
  /** Codes lost to a fail-over during their redemption: the user authorizes again. */
  lostCodes: number;
}

/** Refreshes and calls the API for each session, and connects users, in endless loops until `end`. */
export class Load {
  readonly report: Report = { served: 0, delayed: 0, longest: 0, faults: [], redeemed: [], lostCodes: 0 };
  private stopped = false;
  private readonly loops: Promise<void>[];

  constructor(
    private readonly application: RetryingClient,
    private readonly connect: () => ReturnType<UserBrowser['code']>,
    readonly sessions: Pair[],
  ) {
    this.loops = [
      ...sessions.map((_, index) => this.loop('session', () => this.use(index))),
      this.loop('code', () => this.connectUser()),
    ];
  }

  /** Stops the load. Resolves when no request is pending. */
  async end(): Promise<Report> {
    this.stopped = true;
    await Promise.all(this.loops);
    return this.report;
  }

  private async use(index: number): Promise<void> {
    const refreshed = await this.application.refresh((this.sessions[index] as Pair).refresh_token);
    if (!this.checkOk('refresh', refreshed)) return;
    const pair = (this.sessions[index] = pairOf(refreshed));
    this.checkOk('me', await this.application.me(pair.access_token));
  }

  private async connectUser(): Promise<void> {
    const { code, visit } = await this.connect();
    this.countSuccess(visit);
    const answer = await this.application.redeem(code);
    // The code may be lost in a fail-over: no grant existed yet.
    const lost =
      answer.status === 400 && (answer.retried || /a server failed|the code has expired/.test(answer.text));
    if (lost) this.report.lostCodes += 1;
    else if (this.checkOk('redeem', answer)) this.report.redeemed.push(code);
  }

  private checkOk(what: string, outcome: Outcome): boolean {
    if (outcome.status === 200) this.countSuccess(outcome);
    else this.report.faults.push(`${what}: ${outcome.status} ${outcome.text}`);
    return outcome.status === 200;
  }

  private countSuccess({ retried, elapsedMs }: Pick<Outcome, 'retried' | 'elapsedMs'>): void {
    this.report.served += 1;
    this.report.longest = Math.max(this.report.longest, elapsedMs);
    if (retried) this.report.delayed += 1;
  }

  private async loop(what: string, step: () => Promise<void>): Promise<void> {
    while (!this.stopped && this.report.faults.length < MAX_FAULTS) {
      await step().catch((error: unknown) => this.report.faults.push(`${what}: ${String(error)}`));
      await sleep(PAUSE_MS);
    }
  }
}
