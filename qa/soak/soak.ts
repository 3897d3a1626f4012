import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '#local/servers/run-command.js';
import { until } from '#test/support/until.js';
import { startDocumentHost } from '#test/support/document-host.js';
import { type LogoutReceiver, startLogoutReceiver } from '../logout-receiver.js';
import { Account } from './actors/account.js';
import { CheckedApplication } from './actors/checked-application.js';
import { Operator, Thief } from './actors/thief.js';
import { runActor, runStep, type TestEnvironment } from './actors/test-environment.js';
import { Application } from './application.js';
import { Availability } from './availability.js';
import { Browser } from './browser.js';
import { FaultInjector } from './faults.js';
import { type Client, Installation, type RegisteredClient, RETRY_WINDOW } from './installation.js';
import { LogOuts } from './log-outs.js';
import { RevocationEvents } from './revocation-events.js';
import { Model } from './model.js';
import { type FaultKind, plan, Random } from './plan.js';
import { faultFigures, operationFigures, type Report, type ViolationReport } from './report.js';
import { SoakEnded, Requests, type Attempt } from './requests.js';
import { Timeline } from './timeline.js';
import { describeViolation, type Violate } from './violations.js';

export interface SoakOptions {
  readonly seed: number;
  /** The last fault begins after this number of minutes or steps, whichever comes first. */
  readonly minutes: number;
  readonly steps?: number;
  readonly kinds: readonly FaultKind[];
  /** Number of accounts that use every feature. A third as many accounts only connect and revoke. */
  readonly accounts: number;
  /** Average pause in milliseconds between the steps of an account. */
  readonly pauseMs: number;
  /** Milliseconds without faults before the final audit. */
  readonly quietMs: number;
  readonly progress: (line: string) => void;
  /** Ends the soak early with a report. */
  readonly signal?: AbortSignal;
}

const MAX_VIOLATIONS = 20;
const LONG_FAULT_MS = (RETRY_WINDOW + 3) * 1000;
/** Includes the leases of killed processes, which last a minute, and a retry. */
const DELIVERY_MS = 150_000;
const THIEF_PAUSE_MS = 200;
const OPERATOR_PAUSE_MS = 30_000;
const PROGRESS_MS = 10_000;

export async function soak(options: SoakOptions): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  const violations: ViolationReport[] = [];
  const began = performance.now();
  const timeline = new Timeline(() => performance.now() - began);
  const violate: Violate = (violation) => {
    const { rule, timeDependent = false } = violation;
    const text = describeViolation(violation, timeline);
    violations.push({ rule, timeDependent, text });
    options.progress(`\n${text}\n`);
  };
  const receiver = await startLogoutReceiver();
  const documents = await startDocumentHost();
  const events = await RevocationEvents.start(new Random(options.seed));
  const outside = { logoutUrl: receiver.url, eventsUrl: events.url, documents };
  const installation = await Installation.start(folder, outside, (detail) =>
    violate({ rule: 'no process exits unexpectedly', detail, since: timeline.now() }),
  );
  try {
    const report = await new Soak(
      options,
      installation,
      receiver,
      events,
      timeline,
      violations,
      violate,
    ).run();
    return { ...report, logs: violations.length > 0 ? folder : null };
  } finally {
    await installation.stop();
    receiver.close();
    events.close();
    documents.close();
    if (violations.length === 0) await rm(folder, { recursive: true, force: true });
  }
}

class Soak {
  private readonly random: Random;
  private readonly availability: Availability;
  private readonly model: Model;
  private readonly requests: Requests;
  private readonly environment: TestEnvironment;
  private ended = false;

  constructor(
    private readonly options: SoakOptions,
    private readonly installation: Installation,
    receiver: LogoutReceiver,
    private readonly events: RevocationEvents,
    private readonly timeline: Timeline,
    private readonly violations: readonly ViolationReport[],
    private readonly violate: Violate,
  ) {
    const hasEnded = () => this.ended;
    this.random = new Random(options.seed);
    this.availability = new Availability(timeline, violate);
    this.model = new Model(timeline, RETRY_WINDOW * 1000, violate);
    const record = (attempt: Attempt) => this.availability.record(attempt);
    this.requests = new Requests(installation, timeline, this.random.fork(), record, hasEnded);
    const retryWindow = RETRY_WINDOW * 1000;
    const logOuts = new LogOuts(timeline, violate, this.model.statistics);
    receiver.issuer = installation.urls.BASE_URL;
    receiver.onToken = (claims) => logOuts.receive(claims);
    receiver.onInvalid = (detail) =>
      violate({ rule: 'a logout token is valid', detail, since: timeline.now() });
    Object.assign(events, {
      issuer: installation.urls.BASE_URL,
      statistics: this.model.statistics,
      onViolation: (detail: string) =>
        violate({ rule: 'a revocation has one event', detail, since: timeline.now() }),
    });
    const parts = { requests: this.requests, model: this.model, logOuts, timeline, violate, hasEnded };
    this.environment = { ...parts, retryWindow, owners: new Map() };
  }

  async run(): Promise<Omit<Report, 'logs'>> {
    const steps = plan(new Random(this.options.seed), this.options.kinds, LONG_FAULT_MS);
    const resourceServer = await this.installation.registerResourceServer();
    const clients = [
      await this.installation.registerClient('confidential'),
      await this.installation.registerClient('public'),
    ];
    const openIdClients = [
      await this.installation.registerClient('confidential', true),
      await this.installation.registerDocumentClient(),
    ];
    const { accounts: count, pauseMs } = this.options;
    const accounts: Account[] = [];
    for (let number = 1; number <= count; number++) {
      // Combines confidential and public clients with bearer and DPoP tokens. A third of the accounts get ID tokens.
      const client = (number % 3 === 0 ? openIdClients : clients)[number % 2] as RegisteredClient;
      accounts.push(await this.newAccount(number, client, resourceServer, number % 4 >= 2));
    }
    const revokers: Account[] = [];
    for (let number = 1; number <= count / 3; number++)
      revokers.push(
        await this.newAccount(count + number, clients[0] as RegisteredClient, resourceServer, false),
      );
    const operator = this.operator(resourceServer);
    const thief = new Thief(this.environment, this.random.fork());
    const actors = [
      ...accounts.map((account) => this.runActor(pauseMs, () => account.step())),
      ...revokers.map((account) => this.runActor(pauseMs, () => account.revokeCachedGrant())),
      this.runActor(THIEF_PAUSE_MS, () => thief.step()),
      this.runActor(OPERATOR_PAUSE_MS, () => operator.step()),
      this.reportProgress(),
    ];
    await this.injectFaults(steps);
    this.ended = true;
    await Promise.all(actors);
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

  private async injectFaults(steps: ReturnType<typeof plan>): Promise<void> {
    const { minutes, steps: maxSteps = Infinity, quietMs, progress } = this.options;
    const end = this.timeline.now() + minutes * 60_000;
    const injector = new FaultInjector(
      this.installation,
      this.timeline,
      this.availability,
      this.violate,
      () => this.ended,
    );
    for (let done = 0; done < maxSteps && this.timeline.now() < end && !this.shouldStop(); done++) {
      const step = steps.next().value;
      await sleep(step.pauseMs);
      progress(`${this.elapsed()}  ${FaultInjector.describe(step)}`);
      await injector.inject(step);
    }
    await this.timeline.settled(() => this.shouldStop());
    await sleep(quietMs);
  }

  /** Every revocation reaches the receiver with one `jti`, whatever failed before. */
  private async checkEvents(): Promise<void> {
    this.events.settle();
    let missing: string[] = [];
    await until('every revocation has reached the receiver', DELIVERY_MS, async () => {
      missing = this.events.missing(await this.installation.revokedGrants());
      return missing.length === 0;
    }).catch(() => undefined);
    for (const grantId of missing)
      this.violate({
        rule: 'a revocation reaches the application',
        detail: `grant ${grantId}`,
        since: this.timeline.now(),
        timeDependent: true,
      });
  }

  private async audit(accounts: readonly Account[], thief: Thief): Promise<void> {
    const { logOuts } = this.environment;
    this.options.progress(`${this.elapsed()}  waiting for logout tokens`);
    await until(
      'every log-out has reached the application',
      DELIVERY_MS,
      () => logOuts.missing().length === 0,
    )
      // Ignores the timeout, because `reportMissing` reports missing tokens as violations.
      .catch(() => undefined);
    logOuts.reportMissing();
    await this.checkEvents();
    this.options.progress(`${this.elapsed()}  final audit`);
    await Promise.all(accounts.map((account) => runStep(this.environment, () => account.audit())));
    for (const grant of this.model.revoked)
      for (const choice of [0, 0, 0.65, 0.65, 0.8, 0.95])
        await runStep(this.environment, () => thief.present(grant, choice));
  }

  private async newAccount(
    number: number,
    client: RegisteredClient,
    resourceServer: Required<Client>,
    bound: boolean,
  ): Promise<Account> {
    const { AUTH_URL } = this.installation.urls;
    const user = await this.retryUntilRegistered(() => this.installation.registerUser(number));
    const browser = new Browser(this.requests, this.timeline, this.violate, user, AUTH_URL, () => this.ended);
    const application = await Application.create(
      this.requests,
      this.installation,
      client,
      resourceServer,
      bound,
    );
    const random = this.random.fork();
    const checked = new CheckedApplication(this.environment, random, user, application);
    return new Account(this.environment, random, browser, checked);
  }

  private operator(resourceServer: Required<Client>): Operator {
    // Numbers start above the numbers of the first accounts.
    let number = 2 * this.options.accounts;
    const newAccount = async () => {
      const client = await this.retryUntilRegistered(() =>
        number % 2 === 0
          ? this.installation.registerClient('confidential')
          : this.installation.registerDocumentClient(),
      );
      const account = await this.newAccount(++number, client, resourceServer, false);
      return { account, clientId: client.client_id };
    };
    return new Operator(this.environment, newAccount, (id) => this.deleteClient(id), this.random.fork());
  }

  /** Retries after any error, because PostgreSQL may be down. @throws SoakEnded after the end of the soak */
  private async retryUntilRegistered<T>(register: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await register();
      } catch (error) {
        if (this.ended) throw new SoakEnded('', { cause: error });
        await sleep(1_000);
      }
    }
  }

  /** Runs the operator's command line, connected directly to the servers. */
  private async deleteClient(clientId: string): Promise<Attempt> {
    const { postgres, nats } = this.installation.servers;
    const common = {
      operation: 'delete a client',
      servedBy: 'operator',
      sentAt: this.timeline.now(),
    } as const;
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
    const answer = {
      status: code === 0 ? 200 : 0,
      headers: new Headers(),
      text: stderr,
      mayHaveTakenEffect: true,
    };
    const attempt = { ...common, answeredAt: this.timeline.now(), ...answer };
    this.availability.record(attempt);
    return attempt;
  }

  private runActor(pause: number, step: () => Promise<void>): Promise<void> {
    return runActor(this.environment, this.random.fork(), pause, step);
  }

  private async reportProgress(): Promise<void> {
    for (let next = 0; !this.ended; await sleep(200)) {
      if (this.timeline.now() < next) continue;
      next = this.timeline.now() + PROGRESS_MS;
      const sum = { answered: 0, unavailable: 0, unanswered: 0 };
      for (const counts of this.availability.counts.values())
        for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key];
      const { length: faults } = this.timeline.faultWindows;
      this.options.progress(
        `${this.elapsed()}  ${faults} faults, ${sum.answered} answers, ${sum.unavailable} times 503, ${sum.unanswered} without an answer, ${this.violations.length} violations`,
      );
    }
  }

  private shouldStop(): boolean {
    return this.violations.length >= MAX_VIOLATIONS || (this.options.signal?.aborted ?? false);
  }

  private elapsed(): string {
    const seconds = Math.floor(this.timeline.now() / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  }
}
