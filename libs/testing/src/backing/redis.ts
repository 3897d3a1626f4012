import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startGuarded } from './guarded-process.js';
import { keptSecret } from './kept-secret.js';
import { serverEnvironment } from './server-environment.js';
import { temporaryFolder } from './service-folder.js';
import type { ServiceOptions } from './service-options.js';
import { type BackingService, startService } from './started-service.js';

/** Logical databases of the private Redis: one for each isolated test at a time. */
export const REDIS_DATABASES = 512;

/** Starts a private Redis with a generated password; the URL names its database 0. */
export async function startRedis(options: ServiceOptions): Promise<BackingService> {
  const [server] = await options.find('redis-server', options.directory);
  if (!server) throw new Error('no redis-server was found');
  const folder = options.persistent
    ? join(options.directory, 'redis')
    : await temporaryFolder('redis', undefined);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  const password = await keptSecret(join(folder, 'password'));
  const configuration = join(folder, 'redis.conf');
  const logFile = join(folder, 'redis.log');
  return startService('Redis', logFile, async (port) => {
    // A file, because every user of the machine can read a command line.
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
    await writeFile(configuration, `${lines.join('\n')}\n`, { mode: 0o600 });
    const process = startGuarded({
      name: 'Redis',
      command: server.command,
      args: [configuration],
      cwd: folder,
      env: serverEnvironment(server.libraryPath),
      logFile,
      signal: 'SIGTERM',
      grace: 3_000,
      remove: options.persistent ? [] : [folder],
    });
    const url = `redis://:${password}@127.0.0.1:${port}/0`;
    return { url, process, connect: () => connect(url) };
  });
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
    client.disconnect();
  }
}
