import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { randomBytes } from 'node:crypto';
import { isolatedEnvironment, StartedProduct } from '#test/end-to-end/started-product.js';
import { withDatabase } from '#test/support/test-database.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';
import { type AppName, type AppProcess, launchApp } from '#test/support/app-process.js';
import { freePort } from '../servers/free-port.js';

describe('npm start with wrong settings', () => {
  const places: string[] = [];
  let taken: Server;
  let takenPort: string;
  let redisHost: string;
  let resourcePort: string;
  let refused: Record<'taken' | 'unreachable' | 'wrong', StartedProduct>;

  /** Starts the product in a separate folder, whose lock no other product holds. */
  async function start(
    settings: (place: Record<string, string>) => Record<string, string>,
    ...args: string[]
  ): Promise<StartedProduct> {
    const place = await isolatedEnvironment();
    places.push(place.LOCAL_DIR);
    return new StartedProduct({ ...place, ...settings(place) }, { flags: args });
  }

  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    takenPort = String((taken.address() as AddressInfo).port);
    redisHost = `127.0.0.1:${await freePort()}`;
    refused = {
      taken: await start(() => ({ TOKEN_PORT: takenPort })),
      unreachable: await start(() => ({ REDIS_URL: `redis://default:hidden@${redisHost}` })),
      wrong: await start(({ RESOURCE_PORT = '' }) => {
        resourcePort = RESOURCE_PORT;
        return { TOKEN_PORT: 'http', DEMO_PORT: resourcePort, DATABASE_SCHEMA: 'a b' };
      }, '--sed'),
    };
  });

  afterAll(async () => {
    taken.close();
    await Promise.all(Object.values(refused).map((product) => product.kill('SIGKILL')));
    await Promise.all(places.map((place) => rm(place, { recursive: true, force: true })));
  });

  it('names a port in use and its variable before it starts anything', async () => {
    const { taken: product } = refused;
    expect(await product.exit).toBe(1);
    expect(product.output).toContain(`port ${takenPort} is in use: set TOKEN_PORT`);
    expect(product.output).not.toContain('starting PostgreSQL');
  });

  // The start waits 3 s. An endless retry would exceed the test's timeout.
  it('reports an unreachable server in one line', async () => {
    const { unreachable: product } = refused;
    expect(await product.exit).toBe(1);
    expect(product.output).toContain(`npm start: REDIS_URL: nothing accepts connections at ${redisHost}\n`);
    expect(product.output).not.toMatch(/starting PostgreSQL|hidden|"level"/);
  });

  it('lists all invalid ports, schemas and arguments', async () => {
    const { wrong: product } = refused;
    expect(await product.exit).toBe(1);
    expect(product.output).toContain('TOKEN_PORT must be a port');
    expect(product.output).toContain(`RESOURCE_PORT and DEMO_PORT are both ${resourcePort}`);
    expect(product.output).toContain('DATABASE_SCHEMA must be a schema name');
    expect(product.output).toContain('unknown argument "--sed": npm start takes only --seed');
  });
});

describe('start old data', () => {
  it('npm start rejects a database that lacks a column, and names the folder to delete', async () => {
    const place = await isolatedEnvironment();
    let product = new StartedProduct(place);
    try {
      const { database_url: url } = await product.ready();
      await withDatabase(url, (client) =>
        client.query('ALTER TABLE oauth.clients DROP COLUMN dpop_bound CASCADE'),
      );
      await product.kill('SIGTERM');

      product = new StartedProduct(place);
      expect(await product.exit).toBe(1);
      expect(product.output).toContain(
        '\nnpm start: the database, schema oauth, is from an older version, which cannot be updated: it lacks clients.dpop_bound.\n' +
          `Delete the folder ${place.LOCAL_DIR}: npm start then begins with new data.\n`,
      );
    } finally {
      await product.kill('SIGTERM');
      await rm(place.LOCAL_DIR, { recursive: true, force: true });
    }
  });
});

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
