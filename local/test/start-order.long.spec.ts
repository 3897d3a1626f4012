import type { AppName } from '#test/support/app-process.js';
import { type Dependency, DependentApps } from '#test/end-to-end/dependent-apps.js';

/** Every start order of the dependencies, for each app. */
const ORDERS: [order: Dependency[], apps: AppName[]][] = [
  [
    ['postgres', 'redis', 'nats'],
    ['authorize', 'token', 'resource'],
  ],
  [['postgres', 'nats', 'redis'], ['token']],
  [['redis', 'postgres', 'nats'], ['token']],
  [['redis', 'nats', 'postgres'], ['token']],
  [['nats', 'postgres', 'redis'], ['token']],
  [
    ['nats', 'redis', 'postgres'],
    ['authorize', 'token', 'resource'],
  ],
];

describe('apps that start before their dependencies', () => {
  let installations: DependentApps[];
  let runs: Promise<void>[];

  // In parallel, because each mostly waits.
  beforeAll(async () => {
    installations = await Promise.all(ORDERS.map(([, apps]) => DependentApps.start(apps)));
    runs = installations.map((installation, index) => restoreInOrder(installation, ORDERS[index]?.[0] ?? []));
    await Promise.allSettled(runs);
  });

  afterAll(() => Promise.all((installations ?? []).map((installation) => installation.close())));

  async function restoreInOrder(installation: DependentApps, order: readonly Dependency[]): Promise<void> {
    await installation.expectMissing(...order);
    await installation.expectAlive();
    for (const [index, next] of order.entries()) {
      installation.restore(next);
      await installation.expectMissing(...order.slice(index + 1));
    }
  }

  it.each(ORDERS.map(([order], index) => [order.join(', then '), index] as const))(
    'are alive, name exactly what is missing, and become ready after %s',
    async (_order, index) => {
      expect(runs).toHaveLength(6);
      await runs[index];
    },
  );

  it('stay alive and name a dependency that fails later, and become ready again', async () => {
    const installation = installations.at(-1) as DependentApps;
    for (const name of ['redis', 'nats', 'postgres'] as const) {
      installation.takeDown(name);
      await installation.expectMissing(name);
      await installation.expectAlive();
      installation.restore(name);
      await installation.expectMissing();
    }
  });
});
