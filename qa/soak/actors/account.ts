import { setTimeout as sleep } from 'node:timers/promises';
import type { Authorization, Browser } from '../browser.js';
import type { Grant, TokenPair } from '../id-token.js';
import type { LogOut } from '../log-outs.js';
import type { Random } from '../plan.js';
import type { CheckedApplication } from './checked-application.js';
import type { TestEnvironment } from './test-environment.js';

/** Several grants per user, as with several devices or repeated connections. */
const MAX_GRANTS = 3;
/** Number of API calls without a response after which an application gives up. */
const MAX_API_ATTEMPTS = 3;
const [MAX_USE_BEFORE_REVOCATION_MS, USE_AFTER_REVOCATION_MS] = [15_000, 10_000];
/** Share of device grants, for applications that support devices. */
const DEVICE_SHARE = 1 / 4;
/** Longest delay between the issue and the redemption of a code, as with a browser on a slow network. */
const MAX_REDIRECT_DELAY_MS = 3_000;

export class Account {
  private grants: Grant[] = [];
  /** `sid` claims, by the number of the browser session. */
  private readonly sids = new Map<number, Set<string>>();
  private readonly actions: readonly (readonly [weight: number, action: () => Promise<void>])[];

  constructor(
    private readonly environment: TestEnvironment,
    private readonly random: Random,
    private readonly browser: Browser,
    private readonly client: CheckedApplication,
  ) {
    const actions: (readonly [number, () => Promise<void>])[] = [
      [50, () => this.use()],
      [24, () => this.client.refresh(this.randomGrant(), 1)],
      [8, () => this.client.refresh(this.randomGrant(), random.between(2, 3))],
      [6, () => this.connect()],
      [3, () => this.client.revoke(this.randomGrant())],
      [1, () => this.revokeInBrowser()],
      [1, () => this.raceCodeRedemption()],
      [1, () => this.replayCode()],
      [1, () => this.replayRefreshToken()],
      [0.5, () => this.logOut('log out everywhere')],
      [client.application.client.isOpenId ? 2 : 0.5, () => this.logOut('log out')],
    ];
    // Introspection of a bound token needs the key in the grant, which Redis may have lost.
    if (client.application.key) actions.push([3, () => this.client.replayProof(this.randomGrant())]);
    else actions.push([10, () => this.introspect()]);
    this.actions = actions;
  }

  get live(): readonly Grant[] {
    this.grants = this.grants.filter(({ revocation }) => revocation === null);
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
   * Uses a new grant at every API for at most 15 s, revokes the grant, and uses it further. Faults may delay the
   * broadcast.
   */
  async revokeCachedGrant(): Promise<void> {
    const { timeline, hasEnded } = this.environment;
    await this.connect();
    const [grant] = this.live;
    if (!grant) return;
    const useUntil = async (end: number) => {
      while (timeline.now() < end && !hasEnded()) {
        await this.client.useAtBothReplicas(grant);
        await sleep(this.random.between(200, 1_000));
      }
    };
    await useUntil(timeline.now() + this.random.between(0, MAX_USE_BEFORE_REVOCATION_MS));
    await this.client.revoke(grant);
    await useUntil(timeline.now() + USE_AFTER_REVOCATION_MS);
  }

  async audit(): Promise<void> {
    for (const grant of this.live) {
      await this.client.refresh(grant, 1);
      for (let replica = 0; replica < 2; replica++) await this.client.use(grant, grant.newest, Infinity);
    }
  }

  async connect(): Promise<void> {
    const [oldest] = this.live;
    if (oldest && this.live.length >= MAX_GRANTS) await this.client.revoke(oldest);
    const authorization = await this.authorize();
    if (!authorization) return;
    // Waits sometimes, so that Redis may restart between the issue and the redemption of the code.
    if (this.random.chance(1 / 4)) await sleep(this.random.between(500, MAX_REDIRECT_DELAY_MS));
    const grant = await this.client.redeem(authorization, 1);
    this.remember(grant, authorization);
    if (grant.newest) this.grants.push(grant);
  }

  /** @returns null if the device has to start again */
  private async authorize(): Promise<Authorization | null> {
    const { client } = this.client.application;
    if (client.hasDevices && this.random.chance(DEVICE_SHARE))
      return this.browser.allowDevice(await this.client.requestDevice());
    return this.browser.authorize(client);
  }

  /** Expects a logout token if the application gets ID tokens. After a failed request, the event may be lost. */
  private async logOut(operation: 'log out' | 'log out everywhere'): Promise<void> {
    let logOut: LogOut | undefined;
    const attempts = await this.browser.logOut(operation, (session) => {
      const sids = operation === 'log out' ? [...(this.sids.get(session) ?? [])] : null;
      const isKnown = sids === null ? this.sids.size > 0 : sids.length > 0;
      if (isKnown) logOut = this.environment.logOuts.request(String(this.client.user.id), sids);
    });
    const [attempt, ...repeated] = attempts;
    if (logOut && attempt && repeated.length === 0) logOut.confirmedAt = attempt.answeredAt;
  }

  private remember({ login }: Grant, { session }: Authorization): void {
    if (typeof login?.sid !== 'string') return;
    this.sids.set(session, (this.sids.get(session) ?? new Set()).add(login.sid));
  }

  async use(): Promise<void> {
    const grant = this.randomGrant();
    await this.client.use(grant, this.recentPair(grant), MAX_API_ATTEMPTS);
  }

  private async introspect(): Promise<void> {
    const grant = this.randomGrant();
    await this.client.introspect(grant, this.recentPair(grant));
  }

  private async revokeInBrowser(): Promise<void> {
    const grants = [...this.live];
    const { model } = this.environment;
    const answeredAt = await this.browser.revoke(this.client.application.client, (at) => {
      for (const grant of grants) model.revocationRequested(grant, 'its user revoked it', at);
    });
    for (const grant of grants) model.revocationConfirmed(grant, answeredAt);
    for (const grant of grants) await this.client.useAtBothReplicas(grant);
  }

  /** Redeems one code concurrently as a thief and as the application, or polls twice as a device. */
  private async raceCodeRedemption(): Promise<void> {
    const authorization = await this.authorize();
    if (!authorization) return;
    const grant = await this.client.redeem(authorization, 2);
    this.remember(grant, authorization);
    this.environment.model.statistics.codeRaces += 1;
    if (grant.newest) this.grants.push(grant);
    await this.client.expectRevoked(grant);
  }

  private async replayCode(): Promise<void> {
    const grant = this.randomGrant();
    const owner = this.environment.owners.get(grant);
    const [first] = grant.pairs;
    if (!owner || !first) return;
    const { authorization } = owner;
    const isDevice = authorization.verifier === undefined;
    // Within the retry window, a repeated poll gets the tokens of the first poll.
    if (isDevice && grant.pairs.length === 1 && !this.windowHasPassed(first)) return;
    const request = this.client.application.redeemRequest(authorization);
    await this.client.replay(grant, isDevice ? 'device code' : 'code', request, first.receivedAt);
  }

  private async replayRefreshToken(): Promise<void> {
    const grant = this.randomGrant();
    const stale = this.stalePair(grant);
    if (!stale) return;
    const request = this.client.application.refreshRequest(stale);
    await this.client.replay(grant, 'refresh token', request, stale.receivedAt);
  }

  /** Returns a pair whose refresh token must be rejected: the previous pair, or an older one during the retry window. */
  private stalePair({ pairs, newest }: Grant): TokenPair | undefined {
    const previous = pairs.at(-2);
    return newest && this.windowHasPassed(newest) && previous ? previous : pairs.at(-3);
  }

  private windowHasPassed({ receivedAt }: TokenPair): boolean {
    return this.environment.timeline.now() - receivedAt > this.environment.retryWindow;
  }

  /** Picks one of the last three pairs, because a refresh does not shorten the lifetime of older access tokens. */
  private recentPair({ pairs }: Grant): TokenPair {
    return this.random.pick(pairs.slice(-3));
  }

  private randomGrant(): Grant {
    return this.random.pick(this.live);
  }
}
