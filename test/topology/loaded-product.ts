import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, pairOf, type RetryingClient, UserBrowser, retryingClient } from './retrying-client.js';
import type { Pair } from '../support/tokens.js';
import { until } from '../support/until.js';
import type { ClusteredProduct } from './clustered-product.js';
import { ReadinessWatch, untilReady } from './readiness-watch.js';

const PAUSE_MS = 40;
/** The load ends after this many faults. */
const MAX_FAULTS = 10;

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
class Load {
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

/** Successful requests under load before a server fails, and after the service has recovered. */
const STEADY_REQUESTS = 100;

export interface Failure {
  /** Makes a server fail. @param report of the load so far */
  readonly fail: (report: Readonly<Report>) => Promise<unknown>;
  /** The dependency that /readyz must name then. */
  readonly missingDependency?: string;
  /** The operator's repair after /readyz has named the dependency. */
  readonly repair?: () => Promise<unknown>;
  /** The deadline for recovery, in milliseconds. */
  readonly withinMs: number;
}

/** A product under load from users and an application, for fail-over tests. */
export class LoadedProduct {
  private readonly sessions: Pair[] = [];
  private turn = 0;

  private constructor(
    private readonly product: ClusteredProduct,
    readonly application: RetryingClient,
    private readonly browsers: readonly UserBrowser[],
  ) {}

  /** Connects every user. @param sessions how many grants the load refreshes */
  static async connect(product: ClusteredProduct, sessions: number): Promise<LoadedProduct> {
    const application = retryingClient(product);
    const browsers = product.users.map((user) => new UserBrowser(product, user));
    const loaded = new LoadedProduct(product, application, browsers);
    for (const browser of browsers) {
      const pair = pairOf(await application.redeem(await browser.allow()));
      if (loaded.sessions.length < sessions) loaded.sessions.push(pair);
    }
    return loaded;
  }

  /** The users open the authorization URL in turn. */
  authorizeAgain(): ReturnType<UserBrowser['code']> {
    return (this.browsers[this.turn++ % this.browsers.length] as UserBrowser).code();
  }

  /** Makes a server fail under load, and waits for recovery. */
  async failOver({ fail, missingDependency, repair, withinMs }: Failure): Promise<Report> {
    const watch = new ReadinessWatch(this.product.apps);
    const load = new Load(this.application, () => this.authorizeAgain(), this.sessions);
    try {
      await steady(load);
      await fail(load.report);
      if (missingDependency !== undefined)
        await until(`${missingDependency} is missing`, withinMs, () => watch.missing.has(missingDependency));
      await repair?.();
      await untilReady(this.product.apps, withinMs);
      await steady(load);
    } finally {
      await Promise.all([load.end(), watch.end()]);
    }
    return load.report;
  }

  /** Presents every redeemed code again. @returns the distinct statuses */
  async replayCodes({ redeemed }: Report): Promise<number[]> {
    const answers = await Promise.all(redeemed.map((code) => this.application.redeem(code)));
    return [...new Set(answers.map(({ status }) => status))];
  }
}

/** Resolves after STEADY_REQUESTS more successful requests, or when the load has ended early. */
async function steady({ report }: Load): Promise<void> {
  const target = report.served + STEADY_REQUESTS;
  await until(
    'requests succeed',
    60_000,
    () => report.served >= target || report.faults.length >= MAX_FAULTS,
  );
}
