import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from './application.js';
import { Reported, type Authorization, type Browser } from './browser.js';
import type { Person } from './installation.js';
import { Grant, type Model, type Pair } from './model.js';
import type { Random } from './plan.js';
import { isRefusal, SoakOver, type Requests, type Try } from './requests.js';
import type { Timeline } from './timeline.js';
import type { Violate } from './violations.js';

/** A person has several devices, or connects again: each is a grant. */
const GRANTS = 3;
/** So often an application asks an API that cannot answer, and goes on without it. */
const PATIENCE = 3;
/** For so long a grant is used before it is revoked, at most, and after. */
const [KNOWN_MS, PRESENTED_MS] = [15_000, 10_000];
/** A browser on a slow line. */
const SLOW_MS = 3_000;
/** A long pause ends with the soak. */
const WAKES_MS = 500;

/** What all actors work with. */
export interface World {
  readonly requests: Requests;
  readonly model: Model;
  readonly timeline: Timeline;
  readonly violate: Violate;
  readonly over: () => boolean;
  /** In milliseconds. */
  readonly retryWindow: number;
  /** Who was given each grant. */
  readonly holders: Map<Grant, Holder>;
}

interface Holder {
  readonly application: Application;
  readonly authorization: Authorization;
}

/** Somebody who does one thing after the other until the soak is over. @param pause in milliseconds, up to twice as long */
export async function act(
  world: World,
  random: Random,
  pause: number,
  step: () => Promise<void>,
): Promise<void> {
  while (!world.over()) {
    await attempt(world, step);
    const until = world.timeline.now() + random.between(pause / 2, pause * 2);
    while (world.timeline.now() < until && !world.over())
      await sleep(Math.min(until - world.timeline.now(), WAKES_MS));
  }
}

/** Does one thing. Whatever ends it early is reported, or is the end of the soak. */
export async function attempt({ violate, timeline }: World, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (error instanceof SoakOver || error instanceof Reported) return;
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    violate({ rule: 'the soak understands what it sees', what, from: timeline.now() });
  }
}

/** A person and the application that they let in: honest, but for an accomplice who replays what they have used up. */
export class Account {
  private grants: Grant[] = [];
  private readonly actions: readonly (readonly [weight: number, action: () => Promise<void>])[];

  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly person: Person,
    private readonly browser: Browser,
    private readonly application: Application,
  ) {
    const actions: (readonly [number, () => Promise<void>])[] = [
      [50, () => this.use()],
      [24, () => this.refresh(1)],
      [8, () => this.refresh(random.between(2, 3))],
      [6, () => this.connect()],
      [3, () => this.revoke(this.any())],
      [1, () => this.revokeInBrowser()],
      [1, () => this.raceForCode()],
      [1, () => this.replayCode()],
      [1, () => this.reuse()],
      [0.5, () => this.browser.logOutEverywhere()],
    ];
    // Of a bound token that Redis has lost an introspection cannot know the key.
    if (application.key) actions.push([3, () => this.replayProof()]);
    else actions.push([10, () => this.introspect()]);
    this.actions = actions;
  }

  /** Grants that nobody asked to end. */
  get live(): readonly Grant[] {
    this.grants = this.grants.filter(({ end }) => end === null);
    return this.grants;
  }

  async step(): Promise<void> {
    if (this.live.length === 0) return this.connect();
    const total = this.actions.reduce((sum, [weight]) => sum + weight, 0);
    let at = this.random.next() * total;
    for (const [weight, action] of this.actions) {
      at -= weight;
      if (at < 0) return action();
    }
  }

  /**
   * A grant that every API knows well when it is revoked, and that is used on for longer than an API may believe what it
   * knows: so that there is one whenever a fault keeps a revocation from arriving.
   */
  async revokeWhatIsKnown(): Promise<void> {
    const { timeline, over } = this.world;
    await this.connect();
    const [grant] = this.live;
    if (!grant) return;
    const useUntil = async (end: number) => {
      while (timeline.now() < end && !over()) {
        await this.useEverywhere(grant);
        await sleep(this.random.between(200, 1_000));
      }
    };
    await useUntil(timeline.now() + this.random.between(0, KNOWN_MS));
    await this.revoke(grant);
    await useUntil(timeline.now() + PRESENTED_MS);
  }

  /** Whatever is connected at the end still works, on every copy. */
  async audit(): Promise<void> {
    for (const grant of this.live) {
      await this.refreshed(grant, 1);
      for (let turn = 0; turn < 2; turn++) await this.used(grant, grant.newest, Infinity);
    }
  }

  async connect(): Promise<void> {
    const [oldest] = this.live;
    if (oldest && this.live.length >= GRANTS) await this.revoke(oldest);
    const authorization = await this.browser.authorize(this.application.client);
    // Redis may be another one by the time the code is redeemed.
    if (this.random.chance(1 / 4)) await sleep(this.random.between(500, SLOW_MS));
    const grant = new Grant(authorization.issuedAt);
    const tries: Try[] = [];
    await this.answered('redeem', this.application.redeeming(authorization), tries);
    if (this.world.model.redeemed(grant, tries)) this.keep(grant, authorization);
  }

  async use(): Promise<void> {
    const grant = this.any();
    // An older one lives as long as it would have lived.
    await this.used(grant, this.random.pick(grant.pairs.slice(-3)), PATIENCE);
  }

  private async used(grant: Grant, pair: Pair | undefined, most: number): Promise<void> {
    if (!pair) return;
    const one = await this.application.mePatiently(pair, most);
    this.expect(one, [200, 401, 503, 0]);
    this.world.model.used(grant, pair, one, this.isOwn(one));
  }

  private async introspect(): Promise<void> {
    const grant = this.any();
    const pair = this.random.pick(grant.pairs.slice(-3));
    const one = await this.answered('introspect', this.application.introspecting(pair), [], [200]);
    this.world.model.used(grant, pair, one, isActive(one));
  }

  private refresh(workers: number): Promise<void> {
    return this.refreshed(this.any(), workers);
  }

  /** Workers that refresh by the same token at once, and stop as soon as one of them has the answer. */
  private async refreshed(grant: Grant, workers: number): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const tries: Try[] = [];
    const work = () =>
      this.answered('refresh', this.application.refreshing(newest), tries, [200, 400], () =>
        tries.some((one) => !isRefusal(one)),
      );
    await this.allOf(Array.from({ length: workers }, work), () => this.world.model.refreshed(grant, tries));
    if (workers > 1) this.world.model.statistics.parallelRefreshes += 1;
  }

  private async revoke(grant: Grant): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const { model, timeline } = this.world;
    if (grant.end === null && this.random.chance(1 / 2)) await this.useEverywhere(grant);
    model.ending(grant, 'its client revoked it', timeline.now());
    const token = this.random.pick([newest.accessToken, newest.refreshToken]);
    const { answeredAt } = await this.answered('revoke', this.application.revoking(token), [], [200]);
    model.endedAt(grant, answeredAt);
    await this.useEverywhere(grant);
  }

  private async revokeInBrowser(): Promise<void> {
    const grants = [...this.live];
    const { model } = this.world;
    const answeredAt = await this.browser.revoke(this.application.client, (at) => {
      for (const grant of grants) model.ending(grant, 'its user revoked it', at);
    });
    for (const grant of grants) model.endedAt(grant, answeredAt);
    for (const grant of grants) await this.useEverywhere(grant);
  }

  /** Before its end, so that it is in every cache; and at once after it. */
  private async useEverywhere(grant: Grant): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const tries = await Promise.all([1, 2].map(() => this.application.me(newest)));
    for (const one of tries) {
      this.expect(one, [200, 401, 503, 0]);
      this.world.model.used(grant, newest, one, this.isOwn(one));
    }
  }

  /** A thief and the application redeem the same code at the same time. */
  private async raceForCode(): Promise<void> {
    const authorization = await this.browser.authorize(this.application.client);
    const grant = new Grant(authorization.issuedAt);
    const tries: Try[] = [];
    const redeem = () => this.answered('redeem', this.application.redeeming(authorization), tries);
    await this.allOf([redeem(), redeem()], () => this.world.model.redeemed(grant, tries));
    this.world.model.statistics.codeRaces += 1;
    if (grant.newest) this.keep(grant, authorization);
    await this.misuse(grant);
  }

  private async replayCode(): Promise<void> {
    const grant = this.any();
    const holder = this.world.holders.get(grant);
    const [first] = grant.pairs;
    if (!holder || !first) return;
    const one = await this.world.requests.once('redeem', this.application.redeeming(holder.authorization));
    this.expect(one, [200, 400, 503, 0]);
    this.world.model.replayed(grant, one, 'code', first.receivedAt);
    await this.misuse(grant);
  }

  private async reuse(): Promise<void> {
    const grant = this.any();
    const used = this.usedUp(grant);
    if (!used) return;
    const one = await this.world.requests.once('refresh', this.application.refreshing(used));
    this.expect(one, [200, 400, 503, 0]);
    this.world.model.replayed(grant, one, 'refresh token', used.receivedAt);
    await this.misuse(grant);
  }

  /** What a replay ended is worth nothing any more; what it did not end, the client revokes. */
  private async misuse(grant: Grant): Promise<void> {
    const { newest, end } = grant;
    if (!newest || end === null) return;
    if (end.doneAt === null) return this.revoke(grant);
    await this.useEverywhere(grant);
    const one = await this.world.requests.once('refresh', this.application.refreshing(newest));
    this.expect(one, [200, 400, 503, 0]);
    this.world.model.misused(grant, one);
  }

  /** A refresh token that is outside of its window: two refreshes ago, or one that is long ago. */
  private usedUp({ pairs, newest }: Grant): Pair | undefined {
    const before = pairs.at(-2);
    const late = newest && this.world.timeline.now() - newest.receivedAt > this.world.retryWindow;
    return late && before ? before : pairs.at(-3);
  }

  /** The same DPoP proof at both copies of the API at once. */
  private async replayProof(): Promise<void> {
    const grant = this.any();
    const { newest } = grant;
    if (!newest) return;
    const message = await this.application.using(newest)();
    const tries = await Promise.all([1, 2].map(() => this.application.me(newest, () => message)));
    for (const one of tries) this.expect(one, [200, 401, 503, 0]);
    this.world.model.proofReplayed(grant, tries);
  }

  private async answered(
    operation: 'redeem' | 'refresh' | 'revoke' | 'introspect',
    compose: Parameters<Requests['patiently']>[1],
    tries: Try[],
    expected: readonly number[] = [200, 400],
    enough?: () => boolean,
  ): Promise<Try> {
    const one = await this.world.requests.patiently(operation, compose, tries, enough);
    this.expect(one, enough === undefined ? expected : [...expected, 503, 0]);
    return one;
  }

  /** What was answered counts, even if somebody was interrupted. */
  private async allOf(work: readonly Promise<unknown>[], judge: () => void): Promise<void> {
    const outcomes = await Promise.allSettled(work);
    judge();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private keep(grant: Grant, authorization: Authorization): void {
    this.grants.push(grant);
    this.world.holders.set(grant, { application: this.application, authorization });
  }

  private any(): Grant {
    return this.random.pick(this.live);
  }

  private isOwn(one: Try): boolean {
    if (one.status !== 200) return false;
    const { data } = JSON.parse(one.text) as { data: { id: number } };
    if (data.id !== this.person.id)
      this.world.violate({ rule: 'a token opens the account of its user', tries: [one], from: one.sentAt });
    return true;
  }

  private expect(one: Try, statuses: readonly number[]): void {
    expectStatus(this.world, one, statuses);
  }
}

/** Presents what is over: codes and tokens of grants whose end was answered, the latest ones most of all. */
export class Thief {
  constructor(
    private readonly world: World,
    private readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const { ended } = this.world.model;
    const recent = ended.slice(-4);
    const from = recent.length > 0 && this.random.chance(2 / 3) ? recent : ended;
    if (from.length > 0) await this.present(this.random.pick(from), this.random.next());
  }

  /** @param choice from 0 up to 1: what is presented, and where */
  async present(grant: Grant, choice: number): Promise<void> {
    const { model, requests, holders } = this.world;
    const holder = holders.get(grant);
    if (!holder || grant.pairs.length === 0) return;
    const { application, authorization } = holder;
    const pair = this.random.pick(grant.pairs.slice(-3));
    if (choice < 0.6) {
      const one = await application.me(pair);
      expectStatus(this.world, one, [200, 401, 503, 0]);
      return model.used(grant, pair, one, one.status === 200);
    }
    if (choice < 0.7) {
      const one = await requests.once('introspect', application.introspecting(pair));
      expectStatus(this.world, one, [200, 503, 0]);
      return model.used(grant, pair, one, isActive(one));
    }
    const [operation, compose] =
      choice < 0.9
        ? (['refresh', application.refreshing(pair)] as const)
        : (['redeem', application.redeeming(authorization)] as const);
    const one = await requests.once(operation, compose);
    // 401: its client was deleted.
    expectStatus(this.world, one, [200, 400, 401, 503, 0]);
    model.misused(grant, one);
  }
}

/** The operator, who deletes clients that somebody is connected to. */
export class Operator {
  constructor(
    private readonly world: World,
    /** Registers a client, lets a person connect to it, and deletes it. */
    private readonly newAccount: () => Promise<{ account: Account; clientId: string }>,
    private readonly deleteClient: (clientId: string) => Promise<Try>,
    private readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const { model, timeline, over } = this.world;
    const { account, clientId } = await this.newAccount();
    await account.connect();
    await account.connect();
    if (account.live.length === 0) return;
    await account.use();
    const grants = [...account.live];
    for (const grant of grants) model.ending(grant, 'the operator deleted its client', timeline.now());
    for (;;) {
      const one = await this.deleteClient(clientId);
      if (!isRefusal(one)) return grants.forEach((grant) => model.endedAt(grant, one.answeredAt));
      if (over()) throw new SoakOver();
      await sleep(this.random.between(500, 1_500));
    }
  }
}

function isActive({ status, text }: Try): boolean {
  return status === 200 && (JSON.parse(text) as { active: boolean }).active;
}

/** @throws Reported when the answer is none that this request may get */
function expectStatus(world: World, one: Try, statuses: readonly number[]): void {
  if (statuses.includes(one.status)) return;
  world.violate({ rule: 'a request gets an answer that is due', tries: [one], from: one.sentAt });
  throw new Reported();
}
