import { randomBytes } from 'node:crypto';
import { FaultProxy } from '../support/fault-proxy.js';
import { type Isolated, isolate } from '../support/isolate.js';
import { until } from '../support/until.js';
import { type AppName, type AppProcess, launchApp } from '../support/app-process.js';

const REQUIRED = {
  authorize: ['postgres', 'redis'],
  token: ['postgres', 'redis', 'nats'],
  resource: ['nats'],
} as const;

export type Dependency = 'postgres' | 'redis' | 'nats';

/** Apps with private dependencies that can be taken down. */
export class DependentApps {
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

  /** Resolves when each app names exactly the dependencies that it requires and that are down. */
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
