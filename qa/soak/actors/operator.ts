import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../plan.js';
import { isUnavailable, SoakEnded, type Attempt } from '../requests.js';
import type { Account } from './account.js';
import type { TestEnvironment } from './test-environment.js';

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
