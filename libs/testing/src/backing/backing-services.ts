import { debianServer } from './debian-package.js';
import { findServers, type FoundServer, type Lookup, machineLookup } from './find-server.js';
import { startNats } from './nats.js';
import { startPostgres } from './postgres.js';
import type { SystemUser } from './run-command.js';
import { startRedis } from './redis.js';
import type { BackingServer, ServiceOptions } from './service-options.js';
import type { BackingService } from './started-service.js';
import { unprivilegedUser } from './system-user.js';

/** How the backing services are found and started. */
export interface BackingOptions {
  /** DATABASE_URL, REDIS_URL, NATS_URL and PATH are read from here. */
  env: NodeJS.ProcessEnv;
  /** Folder of this project for data that is kept, logs, and unpacked packages. */
  directory: string;
  /** Keep the data (npm start), or throw it away at the end (tests). */
  persistent: boolean;
  /** Told what takes time, in words for a person. */
  progress: (text: string) => void;
  /** Where to look for servers; this machine's places when absent. */
  lookup?: Lookup;
}

/** URLs of three services that answer, and the end of those that we started. */
export interface BackingServices {
  databaseUrl: string;
  redisUrl: string;
  natsUrl: string;
  /** Ends what was started here and deletes what was to be thrown away. */
  stop(): Promise<void>;
  /** Resolves with a sentence when a service that we started ends without `stop`. */
  died: Promise<string>;
}

const SERVICES = [
  { name: 'PostgreSQL', variable: 'DATABASE_URL', start: startPostgres },
  { name: 'Redis', variable: 'REDIS_URL', start: startRedis },
  { name: 'NATS', variable: 'NATS_URL', start: startNats },
] as const;

/**
 * Finds or starts PostgreSQL, Redis and NATS, all at once: each from its URL in the environment, else from its server on
 * this machine, else from the Debian package unpacked without root; else an error says what is missing and what to do.
 */
export async function startBackingServices(options: BackingOptions): Promise<BackingServices> {
  const lookup = options.lookup ?? machineLookup(options.env);
  const find: ServiceOptions['find'] = async (server, folder) => {
    const user = server === 'postgres' ? await unprivilegedUser() : undefined;
    const found = await findServers(server, lookup, user);
    return found.length > 0 ? found : [await fromPackage(server, folder, user, options)];
  };
  const service = { directory: options.directory, persistent: options.persistent, find };
  const results = await Promise.allSettled(
    SERVICES.map(async ({ variable, start }) => {
      const url = options.env[variable];
      if (url) return { url };
      if (options.env['NODE_ENV'] === 'production')
        throw new Error(`${variable} is not set: production starts no servers`);
      return start(service);
    }),
  );
  const running = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const started = running.filter((one): one is BackingService => 'process' in one);
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    await Promise.all(started.map((one) => one.process.stop()));
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
        if (!expected()) resolve(`${SERVICES[index]?.name} ended: ${how}`);
      });
    });
  });
}

async function fromPackage(
  server: BackingServer,
  folder: string,
  user: SystemUser | undefined,
  options: BackingOptions,
): Promise<FoundServer> {
  try {
    return await debianServer(server, folder, { user, env: options.env, progress: options.progress });
  } catch (error) {
    const variable = { postgres: 'DATABASE_URL', 'redis-server': 'REDIS_URL', 'nats-server': 'NATS_URL' }[
      server
    ];
    throw new Error(
      `${server} is missing on this machine: install it, or set ${variable} to one that runs, or run "docker compose up" ` +
        `which brings all three. (${(error as Error).message})`,
      { cause: error },
    );
  }
}
