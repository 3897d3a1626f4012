import { randomBytes } from 'node:crypto';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';
import { type AppName, type AppProcess, launchApp } from '#test/support/app-process.js';

const REQUIRED = {
  authorize: ['postgres', 'redis'],
  token: ['postgres', 'redis', 'nats'],
  resource: ['nats'],
} as const;

type Dependency = 'postgres' | 'redis' | 'nats';

/** Apps with private dependencies that can be taken down. */
class DependentApps {
  private constructor(
    private readonly services: Isolated,
    private readonly dependencies: Record<Dependency, FaultProxy>,
    private readonly apps: ReadonlyMap<AppName, AppProcess>,
  ) {}

  /** Starts apps while all dependencies are down. */
  static async start(names: readonly AppName[]): Promise<DependentApps> {
    const services = await isolate();
    const [postgres, redis, nats] = await Promise.all(
      [services.databaseUrl, services.redisUrl, services.natsUrl].map((url) => FaultProxy.start(url)),
    );
    const dependencies = { postgres, redis, nats } as Record<Dependency, FaultProxy>;
    for (const dependency of Object.values(dependencies)) dependency.disconnect();
    const env = {
      AUTH_URL: 'http://auth.localhost',
      BASE_URL: 'http://base.localhost',
      API_URL: 'http://api.localhost',
      DATABASE_URL: dependencies.postgres.url,
      REDIS_URL: dependencies.redis.url,
      NATS_URL: dependencies.nats.url,
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
      LOG_LEVEL: 'silent',
    };
    const launched = names.map(async (name) => [name, await launchApp(name, env)] as const);
    return new DependentApps(services, dependencies, new Map(await Promise.all(launched)));
  }

  restore(dependency: Dependency): void {
    this.dependencies[dependency].reconnect();
  }

  takeDown(dependency: Dependency): void {
    this.dependencies[dependency].disconnect();
  }

  /** Resolves when each app reports exactly the required dependencies that are down. */
  async expectMissing(...down: readonly Dependency[]): Promise<void> {
    await until(`missing: ${down.join(' and ') || 'nothing'}`, 60_000, async () => {
      const checks = [...this.apps].map(async ([name, app]) => {
        const expected = REQUIRED[name].filter((name) => down.includes(name));
        return JSON.stringify(await app.missing()) === JSON.stringify(expected);
      });
      return (await Promise.all(checks)).every(Boolean);
    });
  }

  async expectAlive(): Promise<void> {
    for (const app of this.apps.values())
      expect((await fetch(`${app.internalUrl}/healthz`)).status).toBe(200);
  }

  async close(): Promise<void> {
    await Promise.all([...this.apps.values()].map((app) => app.stop()));
    for (const dependency of Object.values(this.dependencies)) await dependency.close();
    await this.services.close();
  }
}

/** Each order in which the dependencies become available, and the apps that are tested with it. */
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

  // Runs the orders in parallel, because each one mostly waits.
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
    'report each missing dependency, and become ready after %s',
    async (_order, index) => {
      expect(runs).toHaveLength(6);
      await runs[index];
    },
  );

  // @reliability recovery
  it('report a dependency that fails after the start, and become ready again', async () => {
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
