import { debianServers, listed, type WantedServer } from './debian-package.js';
import { findServers, type FoundServer, type Lookup, machineLookup } from './find-server.js';
import { startNats } from './nats.js';
import { postgresFolder, startPostgres } from './postgres.js';
import type { Progress } from './progress.js';
import { startRedis } from './redis.js';
import type { BackingServer, BackingService, ServiceOptions } from './started-service.js';
import { unprivilegedUser } from './run-command.js';

export interface BackingOptions {
  /** Environment with PATH, and with the optional DATABASE_URL, REDIS_URL and NATS_URL. */
  env: NodeJS.ProcessEnv;
  /** Folder of persistent data, logs and unpacked packages. */
  directory: string;
  /** True to keep the data (npm start), false to delete them (tests). */
  persistent: boolean;
  progress: Progress;
  /** Places to search for servers; by default, the places of this machine. */
  lookup?: Lookup;
}

export interface BackingServices {
  databaseUrl: string;
  redisUrl: string;
  natsUrl: string;
  /** Stops the servers started here, and deletes temporary data. */
  stop(): Promise<void>;
  /** Resolves with a sentence when a server ends without `stop`. */
  died: Promise<string>;
}

const SERVICES = [
  {
    server: 'postgres',
    variable: 'DATABASE_URL',
    start: startPostgres,
    packages: { apt: 'postgresql', dnf: 'postgresql-server', brew: 'postgresql@17' },
  },
  {
    server: 'redis-server',
    variable: 'REDIS_URL',
    start: startRedis,
    packages: { apt: 'redis-server', dnf: 'valkey-compat-redis', brew: 'redis' },
  },
  {
    server: 'nats-server',
    variable: 'NATS_URL',
    start: startNats,
    packages: { apt: 'nats-server', dnf: 'nats-server', brew: 'nats-server' },
  },
] as const;

type Service = (typeof SERVICES)[number];

/**
 * Uses for each server the URL in the environment, an installed program or a Debian package, in this order.
 * @throws Error that lists all missing servers
 */
export async function startBackingServices(options: BackingOptions): Promise<BackingServices> {
  const required = SERVICES.filter(({ variable }) => !options.env[variable]);
  if (required.length > 0 && options.env['NODE_ENV'] === 'production') {
    const unset = required.map(({ variable }) => `${variable} is not set`);
    throw new Error(`${unset.join(', ')}: production starts no servers`);
  }
  const servers = await findAll(required, options);
  const results = await Promise.allSettled(
    SERVICES.map(async ({ server, variable, start }) => {
      const url = options.env[variable];
      if (url) return { url };
      const find: ServiceOptions['find'] = async () => servers.get(server) ?? [];
      return start({ directory: options.directory, persistent: options.persistent, find });
    }),
  );
  const running = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const started = running.filter((service): service is BackingService => 'process' in service);
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    await Promise.all(started.map((service) => service.process.stop()));
  };
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const [databaseUrl = '', redisUrl = '', natsUrl = ''] = running.map(({ url }) => url);
  return { databaseUrl, redisUrl, natsUrl, stop, died: firstDeath(running, () => stopping) };
}

function firstDeath(
  services: readonly ({ url: string } | BackingService)[],
  expected: () => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    services.forEach((service, index) => {
      if (!('process' in service)) return;
      void service.process.ended.then((how) => {
        if (!expected()) resolve(`${listed(SERVICES.slice(index, index + 1))} ended: ${how}`);
      });
    });
  });
}

/** Finds all servers. Unpacks the packages of all missing servers in one step. */
async function findAll(
  services: readonly Service[],
  options: BackingOptions,
): Promise<Map<BackingServer, FoundServer[]>> {
  const lookup = options.lookup ?? machineLookup(options.env);
  const found = new Map<BackingServer, FoundServer[]>();
  const missing: (WantedServer & Service)[] = [];
  for (const service of services) {
    const { server } = service;
    const user = server === 'postgres' ? await unprivilegedUser() : undefined;
    const programs = await findServers(server, lookup, user);
    found.set(server, programs);
    if (programs.length > 0) continue;
    const folder = user ? await postgresFolder(options.directory, user) : options.directory;
    missing.push({ ...service, folder, user });
  }
  if (missing.length === 0) return found;
  const unpacked = await debianServers(missing, options).catch((cause: Error) => {
    throw new Error(`${cause.message}\n${advice(missing)}`, { cause });
  });
  missing.forEach(({ server }, index) => found.set(server, unpacked.slice(index, index + 1)));
  return found;
}

function advice(missing: readonly Service[]): string {
  const packages = (tool: keyof Service['packages']): string =>
    missing.map((service) => service.packages[tool]).join(' ');
  const variables = missing.map(({ variable }) => variable).join(', ');
  return [
    `Install ${missing.length > 1 ? 'them' : 'it'} and try again:`,
    `  Debian, Ubuntu   sudo apt install ${packages('apt')}`,
    `  Fedora           sudo dnf install ${packages('dnf')}`,
    `  macOS            brew install ${packages('brew')}`,
    `Or set ${variables} to your own servers. Or run everything in containers: docker compose up --build --wait`,
  ].join('\n');
}
