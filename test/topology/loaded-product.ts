import { until } from '../support/until.js';
import type { ClusteredProduct } from './clustered-product.js';
import { MAX_FAULTS, Load, type Report } from './load.js';
import { ReadinessWatch, untilReady } from './readiness-watch.js';
import { pairOf, retryingClient, type RetryingClient, UserBrowser } from './retrying-client.js';
import type { Pair } from '../support/tokens.js';

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
