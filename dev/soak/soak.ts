import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '#testing/backing/run-command.js';
import { Account, act, attempt, Operator, Thief, type World } from './actors.js';
import { Application } from './application.js';
import { Availability } from './availability.js';
import { Browser } from './browser.js';
import { Faults } from './faults.js';
import { type Client, Installation, RETRY_WINDOW } from './installation.js';
import { Model } from './model.js';
import { type Kind, plan, Random } from './plan.js';
import { faultFigures, operationFigures, type Report, type ViolationReport } from './report.js';
import { SoakOver, Requests, type Try } from './requests.js';
import { Timeline } from './timeline.js';
import { describeViolation, type Violate } from './violations.js';

export interface SoakOptions {
  readonly seed: number;
  /** No fault begins after so many minutes, or after so many steps of the plan, whichever comes first. */
  readonly minutes: number;
  readonly steps?: number;
  readonly kinds: readonly Kind[];
  /** Persons who use the product in every way; a third as many do nothing but connect and revoke. */
  readonly accounts: number;
  /** For how long all goes well at the end, in milliseconds, before everything is looked at once more. */
  readonly calmMs: number;
  readonly progress: (line: string) => void;
  /** Ends it early, with a report. */
  readonly signal?: AbortSignal;
}

/** After so many violations it gives up. */
const ENOUGH = 20;
const LONG_MS = (RETRY_WINDOW + 3) * 1000;
const ACCOUNT_PAUSE_MS = 200;
const THIEF_PAUSE_MS = 200;
const OPERATOR_PAUSE_MS = 30_000;
const PROGRESS_MS = 10_000;

/** Starts the product, uses it while faults befall it, and judges what it answers. */
export async function soak(options: SoakOptions): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  const violations: ViolationReport[] = [];
  const began = performance.now();
  const timeline = new Timeline(() => performance.now() - began);
  const violate: Violate = (violation) => {
    const { rule, timed = false } = violation;
    const text = describeViolation(violation, timeline);
    violations.push({ rule, timed, text });
    options.progress(`\n${text}\n`);
  };
  const installation = await Installation.start(folder, (what) =>
    violate({ rule: 'no process ends by itself', what, from: timeline.now() }),
  );
  try {
    const report = await new Soak(options, installation, timeline, violations, violate).run();
    return { ...report, logs: violations.length > 0 ? folder : null };
  } finally {
    await installation.stop();
    if (violations.length === 0) await rm(folder, { recursive: true, force: true });
  }
}

class Soak {
  private readonly random: Random;
  private readonly availability: Availability;
  private readonly model: Model;
  private readonly requests: Requests;
  private readonly world: World;
  private over = false;

  constructor(
    private readonly options: SoakOptions,
    private readonly installation: Installation,
    private readonly timeline: Timeline,
    private readonly violations: readonly ViolationReport[],
    private readonly violate: Violate,
  ) {
    const over = () => this.over;
    this.random = new Random(options.seed);
    this.availability = new Availability(timeline, violate);
    this.model = new Model(timeline, RETRY_WINDOW * 1000, violate);
    const seen = (one: Try) => this.availability.seen(one);
    this.requests = new Requests(installation, timeline, this.random.fork(), seen, over);
    const retryWindow = RETRY_WINDOW * 1000;
    const parts = { requests: this.requests, model: this.model, timeline, violate, over };
    this.world = { ...parts, retryWindow, holders: new Map() };
  }

  async run(): Promise<Omit<Report, 'logs'>> {
    const steps = plan(new Random(this.options.seed), this.options.kinds, LONG_MS);
    const resourceServer = await this.installation.newResourceServer();
    const clients = [
      await this.installation.newClient('confidential'),
      await this.installation.newClient('public'),
    ];
    const { accounts: count } = this.options;
    const accounts: Account[] = [];
    for (let number = 1; number <= count; number++)
      // All four: confidential and public, bearer and DPoP.
      accounts.push(
        await this.account(number, clients[number % 2] as Client, resourceServer, number % 4 >= 2),
      );
    const revokers: Account[] = [];
    for (let number = 1; number <= count / 3; number++)
      revokers.push(await this.account(count + number, clients[0] as Client, resourceServer, false));
    const operator = this.operator(resourceServer);
    const thief = new Thief(this.world, this.random.fork());
    const busy = [
      ...accounts.map((account) => this.act(ACCOUNT_PAUSE_MS, () => account.step())),
      ...revokers.map((account) => this.act(ACCOUNT_PAUSE_MS, () => account.revokeWhatIsKnown())),
      this.act(THIEF_PAUSE_MS, () => thief.step()),
      this.act(OPERATOR_PAUSE_MS, () => operator.step()),
      this.tellProgress(),
    ];
    await this.carryOut(steps);
    this.over = true;
    await Promise.all(busy);
    await this.audit([...accounts, ...revokers], thief);
    return {
      seed: this.options.seed,
      seconds: Math.round(this.timeline.now() / 1000),
      faults: faultFigures(this.timeline, this.availability),
      operations: operationFigures(this.availability),
      statistics: this.model.statistics,
      violations: this.violations,
    };
  }

  private async carryOut(steps: ReturnType<typeof plan>): Promise<void> {
    const { minutes, steps: most = Infinity, calmMs, progress } = this.options;
    const end = this.timeline.now() + minutes * 60_000;
    const faults = new Faults(
      this.installation,
      this.timeline,
      this.availability,
      this.violate,
      () => this.over,
    );
    for (let done = 0; done < most && this.timeline.now() < end && !this.givesUp(); done++) {
      const step = steps.next().value;
      await sleep(step.restMs);
      progress(`${this.clock()}  ${Faults.describe(step)}`);
      await faults.carryOut(step);
    }
    await this.timeline.settled(() => this.givesUp());
    await sleep(calmMs);
  }

  /** Whatever lives at the end works, and whatever was ended does not, at every copy and with nothing in the way. */
  private async audit(accounts: readonly Account[], thief: Thief): Promise<void> {
    this.options.progress(`${this.clock()}  looking at everything once more`);
    await Promise.all(accounts.map((account) => attempt(this.world, () => account.audit())));
    for (const grant of this.model.ended)
      for (const choice of [0, 0, 0.65, 0.65, 0.8, 0.95])
        await attempt(this.world, () => thief.present(grant, choice));
  }

  private async account(
    number: number,
    client: Client,
    resourceServer: Required<Client>,
    bound: boolean,
  ): Promise<Account> {
    const { AUTH_URL } = this.installation.urls;
    const person = await this.persistently(() => this.installation.newPerson(number));
    const browser = new Browser(
      this.requests,
      this.timeline,
      this.violate,
      person,
      AUTH_URL,
      () => this.over,
    );
    const application = await Application.of(this.requests, this.installation, client, resourceServer, bound);
    return new Account(this.world, this.random.fork(), person, browser, application);
  }

  private operator(resourceServer: Required<Client>): Operator {
    // After those who are there from the beginning.
    let number = 2 * this.options.accounts;
    const newAccount = async () => {
      const client = await this.persistently(() => this.installation.newClient('confidential'));
      const account = await this.account(++number, client, resourceServer, false);
      return { account, clientId: client.client_id };
    };
    return new Operator(this.world, newAccount, (id) => this.deleteClient(id), this.random.fork());
  }

  /** PostgreSQL may be away. */
  private async persistently<T>(register: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await register();
      } catch (error) {
        if (this.over) throw new SoakOver('', { cause: error });
        await sleep(1_000);
      }
    }
  }

  /** By the command line, past every line. */
  private async deleteClient(clientId: string): Promise<Try> {
    const { postgres, nats } = this.installation.servers;
    const told = { operation: 'delete a client', place: 'operator', sentAt: this.timeline.now() } as const;
    const program = resolve('dist', 'apps', 'operator.cjs');
    const { code, stderr } = await runCommand(
      process.execPath,
      [program, 'client', 'delete', clientId, '--yes'],
      {
        cwd: process.cwd(),
        env: { PATH: process.env['PATH'], DATABASE_URL: postgres.url, NATS_URL: nats.url },
        timeout: 120_000,
      },
    );
    const answer = { status: code === 0 ? 200 : 0, headers: new Headers(), text: stderr, received: true };
    const one = { ...told, answeredAt: this.timeline.now(), ...answer };
    this.availability.seen(one);
    return one;
  }

  private act(pause: number, step: () => Promise<void>): Promise<void> {
    return act(this.world, this.random.fork(), pause, step);
  }

  private async tellProgress(): Promise<void> {
    for (let next = 0; !this.over; await sleep(200)) {
      if (this.timeline.now() < next) continue;
      next = this.timeline.now() + PROGRESS_MS;
      const sum = { answered: 0, unavailable: 0, unanswered: 0 };
      for (const counts of this.availability.counts.values())
        for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key];
      const { length: faults } = this.timeline.happenings;
      this.options.progress(
        `${this.clock()}  ${faults} faults, ${sum.answered} answers, ${sum.unavailable} times 503, ${sum.unanswered} without an answer, ${this.violations.length} violations`,
      );
    }
  }

  private givesUp(): boolean {
    return this.violations.length >= ENOUGH || (this.options.signal?.aborted ?? false);
  }

  private clock(): string {
    const seconds = Math.floor(this.timeline.now() / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  }
}
