import { until } from '#testing/topology/until.js';
import { Application, type Pair, pairOf } from './application.js';
import { Browser } from './browser.js';
import type { ClusteredProduct } from './clustered-product.js';
import { FAULTS, Load, type Report } from './load.js';
import { ReadinessWatch, untilReady } from './readiness-watch.js';

/** Requests under load before a server fails, and after the service is back. */
const STEADY = 100;

export interface Failure {
  /** What happens while everybody is busy. */
  readonly fall: () => Promise<unknown>;
  /** The dependency that /readyz has to name then. */
  readonly missed?: string;
  /** What an operator does about it, once it is noticed. */
  readonly rescue?: () => Promise<unknown>;
  /** For how many milliseconds the service may be away. */
  readonly withinMs: number;
}

/** Users and an application of a product, and what they see when one of its servers fails. */
export class BusyProduct {
  private readonly sessions: Pair[] = [];
  private turn = 0;

  private constructor(
    private readonly product: ClusteredProduct,
    readonly application: Application,
    private readonly browsers: readonly Browser[],
  ) {}

  /** @param sessions how many applications are connected */
  static async of(product: ClusteredProduct, sessions: number): Promise<BusyProduct> {
    const application = new Application(product);
    const browsers = product.users.map((user) => new Browser(product, user));
    const busy = new BusyProduct(product, application, browsers);
    for (const browser of browsers) {
      const pair = pairOf(await application.redeem(await browser.allow()));
      if (busy.sessions.length < sessions) busy.sessions.push(pair);
    }
    return busy;
  }

  /** One user after the other opens the authorization URL again. */
  connect(): ReturnType<Browser['code']> {
    return (this.browsers[this.turn++ % this.browsers.length] as Browser).code();
  }

  /** Lets a server fail while everybody is busy. @returns what everybody saw */
  async through({ fall, missed, rescue, withinMs }: Failure): Promise<Report> {
    const watch = new ReadinessWatch(this.product.apps);
    const load = new Load(this.application, () => this.connect(), this.sessions);
    try {
      await steady(load);
      await fall();
      if (missed !== undefined) await until(`${missed} is missed`, withinMs, () => watch.missing.has(missed));
      await rescue?.();
      await untilReady(this.product.apps, withinMs);
      await steady(load);
    } finally {
      await Promise.all([load.end(), watch.end()]);
    }
    return load.report;
  }

  /** Presents every code that was redeemed once more. @returns the different answers */
  async again({ redeemed }: Report): Promise<number[]> {
    const answers = await Promise.all(redeemed.map((code) => this.application.redeem(code)));
    return [...new Set(answers.map(({ status }) => status))];
  }
}

/** Resolves when so many more requests are served as they should be, or when the load has given up. */
async function steady({ report }: Load): Promise<void> {
  const enough = report.served + STEADY;
  await until('everybody is served', 60_000, () => report.served >= enough || report.faults.length >= FAULTS);
}
