import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { databaseUrls, type ProcessUrls } from '#local/supervisor/process-urls.js';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';
import { freePort } from '#local/servers/free-port.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '#test/support/keys.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { startPrivateServices } from '../command.js';

/** One replica each of the authorize, token and resource apps, with private servers. */
export interface Product {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly apiUrl: string;
  readonly redisUrl: string;
  /** URLs with the role of each process. No policy restricts the role in `environment`. */
  readonly databaseUrls: ProcessUrls['database'];
  readonly environment: Readonly<Record<'NATS_URL' | 'BASE_URL', string>> & Readonly<Record<string, string>>;
  /** Folder of the process logs, which `close` deletes. */
  readonly folder: string;
  readonly fixture: Fixture;
  readonly apps: readonly AppProcess[];
  close(): Promise<void>;
}

// In seconds. Long enough to create thousands of codes before they are redeemed.
const CODE_LIFETIME = 600;

export async function startProduct(): Promise<Product> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const services = await startPrivateServices();
  const keys = randomBytes(32).toString('base64url');
  const fixture = await openFixture(services, keys, {
    ...DEFAULT_LIFETIMES,
    code: CODE_LIFETIME,
  });
  // Redis is persistent, as in a deployment.
  await fixture.redis.config('SET', 'appendonly', 'yes');
  const ports = await Promise.all(Array.from({ length: 3 }, freePort));
  const [authUrl = '', baseUrl = '', apiUrl = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
  const env = {
    AUTH_URL: authUrl,
    BASE_URL: baseUrl,
    API_URL: apiUrl,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: keys,
    CODE_LIFETIME: String(CODE_LIFETIME),
  };
  const names = ['authorize', 'token', 'resource'] as const;
  const idTokenKeys = { authorize: PUBLIC_ID_TOKEN_KEYS, token: ID_TOKEN_KEYS, resource: '' };
  const apps = await Promise.all(
    // The apps log to files, as in a container, so that the figures include the cost of logging.
    names.map((name, n) =>
      startApp(
        name,
        { ...env, ID_TOKEN_KEYS: idTokenKeys[name] },
        { port: ports[n] ?? 0, logFile: join(folder, `${name}.log`), patient: false },
      ),
    ),
  );
  return {
    authUrl,
    baseUrl,
    apiUrl,
    redisUrl: services.redisUrl,
    databaseUrls: await databaseUrls(services.databaseUrl, DEFAULT_SCHEMA, folder),
    environment: env,
    folder,
    fixture,
    apps,
    async close() {
      await Promise.all(apps.map((app) => app.stop()));
      await fixture.close();
      await services.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates `count` objects, at most ten of them concurrently. */
export async function many<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let started = 0;
  const worker = async () => {
    while (started++ < count) results.push(await make());
  };
  await Promise.all(Array.from({ length: 10 }, worker));
  return results;
}

/** Starts a product, runs the benchmark on it and prints the result. @returns the exit code */
export async function benchmark(run: (product: Product) => Promise<string>): Promise<number> {
  const product = await startProduct();
  try {
    process.stdout.write(`${await run(product)}\n`);
  } finally {
    await product.close();
  }
  return 0;
}
