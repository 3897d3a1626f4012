import type { AppName } from './app-processes.js';
import { type Dependency, NeedyApps } from './needy-apps.js';

/** Every order for who needs all three; for the others, every order of what they need, with the rest before and after. */
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
  let installations: NeedyApps[];
  let stories: Promise<void>[];

  // They wait for most of the time, so that all of them do at once.
  beforeAll(async () => {
    installations = await Promise.all(ORDERS.map(([, apps]) => NeedyApps.start(apps)));
    stories = installations.map((installation, index) => inOrder(installation, ORDERS[index]?.[0] ?? []));
    await Promise.allSettled(stories);
  });

  afterAll(() => Promise.all((installations ?? []).map((installation) => installation.close())));

  async function inOrder(installation: NeedyApps, order: readonly Dependency[]): Promise<void> {
    await installation.misses(...order);
    await installation.areAlive();
    for (const [index, next] of order.entries()) {
      installation.comes(next);
      await installation.misses(...order.slice(index + 1));
    }
  }

  it.each(ORDERS.map(([order], index) => [order.join(', then '), index] as const))(
    'are alive, name exactly what is missing, and become ready after %s',
    async (_order, index) => {
      expect(stories).toHaveLength(6);
      await stories[index];
    },
  );

  it('stay alive and name a dependency that fails later, and become ready again', async () => {
    const installation = installations.at(-1) as NeedyApps;
    for (const name of ['redis', 'nats', 'postgres'] as const) {
      installation.goes(name);
      await installation.misses(name);
      await installation.areAlive();
      installation.comes(name);
      await installation.misses();
    }
  });
});
