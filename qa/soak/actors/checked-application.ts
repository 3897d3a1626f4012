import type { Application } from '../application.js';
import type { Authorization, DeviceRequest } from '../browser.js';
import { checkIdToken, Grant, type TokenPair } from '../id-token.js';
import type { User } from '../installation.js';
import type { ReplayedCredential } from '../model.js';
import type { Random } from '../plan.js';
import { isUnavailable, type Attempt, type BuildRequest } from '../requests.js';
import { expectStatus, isActive, type TestEnvironment } from './test-environment.js';

/** Sends the requests of an application for one user. The model checks every response. */
export class CheckedApplication {
  constructor(
    private readonly environment: TestEnvironment,
    private readonly random: Random,
    readonly user: User,
    readonly application: Application,
  ) {}

  /** Requests a device code and polls once before the user decides. */
  async requestDevice(): Promise<DeviceRequest> {
    const requestedAt = this.environment.timeline.now();
    // Uses a random address, because the number of pending devices per address is limited.
    const address = `10.1.${this.random.between(0, 255)}.${this.random.between(0, 255)}`;
    const request = this.application.deviceRequest(address);
    const { text } = await this.sendUntilAnswered('request a device code', request, [], [200]);
    const body = JSON.parse(text) as { device_code: string; verification_uri_complete: string };
    const poll = this.application.redeemRequest({ code: body.device_code, verifier: undefined });
    const attempt = await this.sendToToken('redeem', poll);
    const rule = 'a device gets no tokens before its user has decided';
    if (attempt.status === 200)
      this.environment.violate({ rule, attempts: [attempt], since: attempt.sentAt });
    return { deviceCode: body.device_code, page: body.verification_uri_complete, requestedAt };
  }

  /** @param requests number of concurrent requests @returns a grant; it has no tokens if every request failed */
  async redeem(authorization: Authorization, requests: number): Promise<Grant> {
    const grant = new Grant(authorization.issuedAt);
    const attempts: Attempt[] = [];
    const redeem = () =>
      this.sendUntilAnswered('redeem', this.application.redeemRequest(authorization), attempts);
    const { model } = this.environment;
    await settleAll(Array.from({ length: requests }, redeem), () =>
      authorization.verifier === undefined
        ? model.checkPolls(grant, attempts)
        : model.checkRedemption(grant, attempts),
    );
    await this.checkIdTokens(grant, attempts, authorization.nonce);
    if (grant.newest) this.environment.owners.set(grant, { application: this.application, authorization });
    return grant;
  }

  /** Refreshes concurrently from several workers, until one of them receives a response. */
  async refresh(grant: Grant, workers: number): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const attempts: Attempt[] = [];
    const refresh = () =>
      this.sendUntilAnswered('refresh', this.application.refreshRequest(newest), attempts, [200, 400], () =>
        attempts.some((attempt) => !isUnavailable(attempt)),
      );
    await settleAll(Array.from({ length: workers }, refresh), () =>
      this.environment.model.checkRefresh(grant, attempts),
    );
    await this.checkIdTokens(grant, attempts, undefined);
    if (workers > 1) this.environment.model.statistics.parallelRefreshes += 1;
  }

  async use(grant: Grant, pair: TokenPair | undefined, maxAttempts: number): Promise<void> {
    if (!pair) return;
    const attempt = await this.application.callApiUntilAnswered(pair, maxAttempts);
    this.checkApiAnswer(grant, pair, attempt);
  }

  async useAtBothReplicas(grant: Grant): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const attempts = await Promise.all([1, 2].map(() => this.application.callApi(newest)));
    for (const attempt of attempts) this.checkApiAnswer(grant, newest, attempt);
  }

  async introspect(grant: Grant, pair: TokenPair): Promise<void> {
    const request = this.application.introspectRequest(pair);
    const attempt = await this.sendUntilAnswered('introspect', request, [], [200]);
    this.environment.model.checkAccessToken(grant, pair, attempt, isActive(attempt));
  }

  async revoke(grant: Grant): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const { model, timeline } = this.environment;
    // Puts half of the tokens into the cache of every API before the revocation.
    if (grant.revocation === null && this.random.chance(1 / 2)) await this.useAtBothReplicas(grant);
    model.revocationRequested(grant, 'its client revoked it', timeline.now());
    const token = this.random.pick([newest.accessToken, newest.refreshToken]);
    const request = this.application.revokeRequest(token);
    const { answeredAt } = await this.sendUntilAnswered('revoke', request, [], [200]);
    model.revocationConfirmed(grant, answeredAt);
    await this.useAtBothReplicas(grant);
  }

  /** @param since time at which the code was redeemed, or the refresh token was issued */
  async replay(grant: Grant, what: ReplayedCredential, request: BuildRequest, since: number): Promise<void> {
    const attempt = await this.sendToToken(what === 'refresh token' ? 'refresh' : 'redeem', request);
    this.environment.model.checkReplay(grant, attempt, what, since);
    await this.expectRevoked(grant);
  }

  /** Checks that a replay has revoked the grant. If no response confirmed this, revokes the grant as the client. */
  async expectRevoked(grant: Grant): Promise<void> {
    const { newest, revocation } = grant;
    if (!newest || revocation === null) return;
    if (revocation.confirmedAt === null) return this.revoke(grant);
    await this.useAtBothReplicas(grant);
    const attempt = await this.sendToToken('refresh', this.application.refreshRequest(newest));
    this.environment.model.checkRevokedCredential(grant, attempt);
  }

  async replayProof(grant: Grant): Promise<void> {
    const { newest } = grant;
    if (!newest) return;
    const message = await this.application.apiRequest(newest)();
    const attempts = await Promise.all([1, 2].map(() => this.application.callApi(newest, () => message)));
    for (const attempt of attempts) expectStatus(this.environment, attempt, [200, 401, 503, 0]);
    this.environment.model.checkProofReplay(grant, attempts);
  }

  /** Checks that all ID tokens of a grant describe the same login (sections 2 and 12.2 of OpenID Connect Core). */
  private async checkIdTokens(
    grant: Grant,
    attempts: readonly Attempt[],
    nonce: string | undefined,
  ): Promise<void> {
    const { client, issuer } = this.application;
    if (!client.isOpenId) return;
    const { statistics } = this.environment.model;
    for (const attempt of attempts.filter(({ status }) => status === 200)) {
      const { login } = grant;
      const body = JSON.parse(attempt.text) as Record<string, unknown>;
      const expected = { issuer, clientId: client.client_id, userId: this.user.id, nonce, login };
      const checked = await checkIdToken(body, expected);
      grant.login = checked.login;
      statistics.idTokens += 1;
      if (checked.problems.length === 0) continue;
      this.environment.violate({
        rule: 'an ID token is about the login of its grant',
        detail: checked.problems.join('; '),
        attempts: [attempt],
        since: attempt.sentAt,
      });
    }
  }

  private async sendToToken(operation: 'redeem' | 'refresh', request: BuildRequest): Promise<Attempt> {
    const attempt = await this.environment.requests.send(operation, request);
    expectStatus(this.environment, attempt, [200, 400, 503, 0]);
    return attempt;
  }

  private async sendUntilAnswered(
    operation: 'request a device code' | 'redeem' | 'refresh' | 'revoke' | 'introspect',
    request: BuildRequest,
    attempts: Attempt[],
    expected: readonly number[] = [200, 400],
    stopWhen?: () => boolean,
  ): Promise<Attempt> {
    const attempt = await this.environment.requests.sendUntilAnswered(operation, request, attempts, stopWhen);
    expectStatus(this.environment, attempt, stopWhen === undefined ? expected : [...expected, 503, 0]);
    return attempt;
  }

  private checkApiAnswer(grant: Grant, pair: TokenPair, attempt: Attempt): void {
    expectStatus(this.environment, attempt, [200, 401, 503, 0]);
    const accepted = attempt.status === 200;
    if (accepted) {
      const { data } = JSON.parse(attempt.text) as { data: { id: number } };
      const rule = 'a token opens the account of its user';
      if (data.id !== this.user.id)
        this.environment.violate({ rule, attempts: [attempt], since: attempt.sentAt });
    }
    this.environment.model.checkAccessToken(grant, pair, attempt, accepted);
  }
}

async function settleAll(requests: readonly Promise<unknown>[], check: () => void): Promise<void> {
  const outcomes = await Promise.allSettled(requests);
  check();
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
