import { setTimeout as sleep } from 'node:timers/promises';
import type { Grant } from '../id-token.js';
import type { Random } from '../plan.js';
import { expectStatus, isActive, type TestEnvironment } from './test-environment.js';
import { type Attempt, isUnavailable, SoakEnded } from '../requests.js';
import type { Account } from './account.js';

/** Presents credentials of revoked grants, mostly of the grants that were revoked last. */
export class Thief {
  constructor(
    private readonly environment: TestEnvironment,
    private readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const { revoked } = this.environment.model;
    const recent = revoked.slice(-4);
    const from = recent.length > 0 && this.random.chance(2 / 3) ? recent : revoked;
    if (from.length > 0) await this.present(this.random.pick(from), this.random.next());
  }

  /** @param choice number from 0 to 1 that selects the credential and the endpoint */
  async present(grant: Grant, choice: number): Promise<void> {
    const { model, requests, owners } = this.environment;
    const owner = owners.get(grant);
    if (!owner || grant.pairs.length === 0) return;
    const { application, authorization } = owner;
    const pair = this.random.pick(grant.pairs.slice(-3));
    if (choice < 0.6) {
      const attempt = await application.callApi(pair);
      expectStatus(this.environment, attempt, [200, 401, 503, 0]);
      return model.checkAccessToken(grant, pair, attempt, attempt.status === 200);
    }
    if (choice < 0.7) {
      const attempt = await requests.send('introspect', application.introspectRequest(pair));
      expectStatus(this.environment, attempt, [200, 503, 0]);
      return model.checkAccessToken(grant, pair, attempt, isActive(attempt));
    }
    const [operation, request] =
      choice < 0.9
        ? (['refresh', application.refreshRequest(pair)] as const)
        : (['redeem', application.redeemRequest(authorization)] as const);
    const attempt = await requests.send(operation, request);
    // The response is 401 if the operator has deleted the client.
    expectStatus(this.environment, attempt, [200, 400, 401, 503, 0]);
    model.checkRevokedCredential(grant, attempt);
  }
}

export class Operator {
  constructor(
    private readonly environment: TestEnvironment,
    private readonly newAccount: () => Promise<{ account: Account; clientId: string }>,
    private readonly deleteClient: (clientId: string) => Promise<Attempt>,
    private readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const { model, timeline, hasEnded } = this.environment;
    const { account, clientId } = await this.newAccount();
    await account.connect();
    await account.connect();
    if (account.live.length === 0) return;
    await account.use();
    const grants = [...account.live];
    for (const grant of grants)
      model.revocationRequested(grant, 'the operator deleted its client', timeline.now());
    for (;;) {
      const attempt = await this.deleteClient(clientId);
      if (!isUnavailable(attempt))
        return grants.forEach((grant) => model.revocationConfirmed(grant, attempt.answeredAt));
      if (hasEnded()) throw new SoakEnded();
      await sleep(this.random.between(500, 1_500));
    }
  }
}
