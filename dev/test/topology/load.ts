import { setTimeout as sleep } from 'node:timers/promises';
import { type Application, type Pair, pairOf } from './application.js';
import type { Browser } from './browser.js';
import type { Outcome } from './patiently.js';

const PAUSE_MS = 40;
/** After so many it gives up. */
export const FAULTS = 10;

/** What users and applications saw of a fail-over. */
export interface Report {
  /** Requests that were answered as they should be in the end. */
  served: number;
  /** Those of them that got 503 before. */
  delayed: number;
  /** The longest time until an answer, in milliseconds. */
  longest: number;
  /** Answers that log somebody out, or that nobody can explain. */
  faults: string[];
  /** Codes that were exchanged for a pair. */
  redeemed: string[];
  /** Codes whose first redemption got no answer or met a fail-over, so that the user has to click again. */
  clickAgain: number;
}

/** Sessions that refresh and call the API without a pause, and users who connect again and again, until told to end. */
export class Load {
  readonly report: Report = { served: 0, delayed: 0, longest: 0, faults: [], redeemed: [], clickAgain: 0 };
  private over = false;
  private readonly loops: Promise<void>[];

  constructor(
    private readonly application: Application,
    private readonly connect: () => ReturnType<Browser['code']>,
    readonly sessions: Pair[],
  ) {
    this.loops = [
      ...sessions.map((_, index) => this.loop('session', () => this.use(index))),
      this.loop('code', () => this.connectUser()),
    ];
  }

  /** Resolves when every request under way is answered. */
  async end(): Promise<Report> {
    this.over = true;
    await Promise.all(this.loops);
    return this.report;
  }

  private async use(index: number): Promise<void> {
    const renewed = await this.application.refresh(this.sessions[index] as Pair);
    if (!this.served('refresh', renewed)) return;
    const pair = (this.sessions[index] = pairOf(renewed));
    this.served('me', await this.application.me(pair));
  }

  private async connectUser(): Promise<void> {
    const { code, visit } = await this.connect();
    this.note(visit);
    const answer = await this.application.redeem(code);
    // Neither the application nor the user had anything that could be lost.
    const lost =
      answer.status === 400 && (answer.refused || /a server failed|the code has expired/.test(answer.text));
    if (lost) this.report.clickAgain += 1;
    else if (this.served('redeem', answer)) this.report.redeemed.push(code);
  }

  private served(what: string, outcome: Outcome): boolean {
    if (outcome.status === 200) this.note(outcome);
    else this.report.faults.push(`${what}: ${outcome.status} ${outcome.text}`);
    return outcome.status === 200;
  }

  private note({ refused, took }: Outcome): void {
    this.report.served += 1;
    this.report.longest = Math.max(this.report.longest, took);
    if (refused) this.report.delayed += 1;
  }

  private async loop(what: string, step: () => Promise<void>): Promise<void> {
    while (!this.over && this.report.faults.length < FAULTS) {
      await step().catch((error: unknown) => this.report.faults.push(`${what}: ${String(error)}`));
      await sleep(PAUSE_MS);
    }
  }
}
