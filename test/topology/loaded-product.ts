import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Outcome,
  pairOf,
  ReadinessWatch,
  type RetryingClient,
  retryingClient,
  untilReady,
  UserBrowser,
} from './retrying-client.js';
import type { Pair } from '../support/tokens.js';
import { until } from '../support/until.js';
import type { ClusteredProduct } from './clustered-product.js';

const PAUSE_MS = 40;
/** Number of unexpected responses after which the load ends. */
const MAX_FAULTS = 10;

export interface Report {
  /** Number of successful requests, with or without retries. */
  served: number;
  /** Number of successful requests after a 503. */
  delayed: number;
  /** Milliseconds until the slowest response, including retries. */
  longest: number;
  /** Unexpected responses, such as invalid_grant for a live grant. */
  faults: string[];
  redeemed: string[];
  /** Number of codes that a fail-over lost. The user authorizes again. */
  lostCodes: number;
}

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
    // A code may be lost in a fail-over, because the grant is not active yet.
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

const STEADY_REQUESTS = 100;

export interface Failure {
  /** @param report state of the load */
  readonly fail: (report: Readonly<Report>) => Promise<unknown>;
  /** Dependency that /readyz must report before the repair. */
  readonly missingDependency?: string;
  readonly repair?: () => Promise<unknown>;
  readonly withinMs: number;
}

export class LoadedProduct {
  private readonly sessions: Pair[] = [];
  private turn = 0;

  private constructor(
    private readonly product: ClusteredProduct,
    readonly application: RetryingClient,
    private readonly browsers: readonly UserBrowser[],
  ) {}

  /** @param sessions number of grants that the load refreshes */
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

  authorizeAgain(): ReturnType<UserBrowser['code']> {
    return (this.browsers[this.turn++ % this.browsers.length] as UserBrowser).code();
  }

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

  /** Redeems used codes again. @returns the distinct statuses */
  async replayCodes({ redeemed }: Report): Promise<number[]> {
    const answers = await Promise.all(redeemed.map((code) => this.application.redeem(code)));
    return [...new Set(answers.map(({ status }) => status))];
  }
}

/** Waits for 100 successful requests. Also resolves if the load ends early. */
async function steady({ report }: Load): Promise<void> {
  const target = report.served + STEADY_REQUESTS;
  await until(
    'requests succeed',
    60_000,
    () => report.served >= target || report.faults.length >= MAX_FAULTS,
  );
}
