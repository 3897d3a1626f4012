import { Redis } from 'ioredis';
import { type BackingService, type ServiceOptions, startConfigured } from './started-service.js';

/** Number of databases: one for each concurrent isolated test. */
const REDIS_DATABASES = 512;

/** Starts Redis. The URL selects database 0. */
export function startRedis(options: ServiceOptions): Promise<BackingService> {
  return startConfigured(
    {
      name: 'Redis',
      program: 'redis-server',
      role: 'redis',
      configuration: ({ port, password, folder }) => {
        const lines = [
          'bind 127.0.0.1',
          `port ${port}`,
          `requirepass ${password}`,
          `databases ${REDIS_DATABASES}`,
          `dir "${folder.replaceAll(/["\\]/g, '\\$&')}"`,
          'save ""',
          `appendonly ${options.persistent ? 'yes' : 'no'}`,
          'daemonize no',
        ];
        return `${lines.join('\n')}\n`;
      },
      arguments: (file) => [file],
      url: ({ port, password }) => `redis://:${password}@127.0.0.1:${port}/0`,
      connect,
    },
    options,
  );
}

async function connect(url: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    // `disconnect` on a closed connection would leave a timer that keeps a Jest worker alive.
    if (client.status !== 'end') client.disconnect();
  }
}
