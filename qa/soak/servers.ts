import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { startPostgres } from '#local/servers/postgres.js';
import { temporaryFolder } from '#local/servers/service-folder.js';
import type { BackingService } from '#local/servers/started-service.js';
import { unprivilegedUser } from '#local/servers/run-command.js';
import { signalTree } from '#test/support/process-tree.js';
import { createTrail } from '#test/support/isolate.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { RedisNode } from '#test/topology/redis-cluster.js';
import { findTool } from '#test/support/tool.js';

/** Server whose data survive `kill` and `start`. */
export interface PrivateServer {
  /** May change after `start`. */
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Removes the data of a stopped Redis. Does nothing for other servers. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServers(
  folder: string,
): Promise<{ redis: PrivateServer; postgres: PrivateServer; nats: PrivateServer }> {
  const [redis, postgres, nats] = await Promise.all([startRedis(folder), newPostgres(), startNats()]);
  return { redis, postgres, nats };
}

async function startRedis(parent: string): Promise<PrivateServer> {
  const folder = join(parent, 'redis');
  await mkdir(folder);
  const [port, password] = [await freePort(), randomBytes(16).toString('hex')];
  // fsync is off: SIGKILL loses no written data, and `everysec` may delay a write by two seconds on a slow disk.
  const node = new RedisNode(port, folder, password, ['save ""', 'appendonly yes', 'appendfsync no']);
  await node.start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}/0`,
    start: async () => void (await node.start()),
    kill: () => node.kill(),
    signal: async (name) => node.signal(name),
    empty: () => rm(join(folder, 'appendonlydir'), { recursive: true, force: true }),
    stop: () => node.stop(),
  };
}

async function startNats(): Promise<PrivateServer> {
  const nats = await RestartableNats.start();
  await createTrail(nats.url);
  return {
    url: nats.url,
    start: () => nats.restart(),
    kill: () => nats.kill(),
    signal: async (name) => (name === 'SIGSTOP' ? nats.sleep() : nats.wake()),
    empty: async () => undefined,
    stop: () => nats.stop(),
  };
}

async function newPostgres(): Promise<PrivateServer> {
  const directory = await temporaryFolder('soak', await unprivilegedUser());
  await chmod(directory, 0o711);
  const find: Parameters<typeof startPostgres>[0]['find'] = async (server) => [await findTool(server)];
  let service: BackingService;
  const start = async () => void (service = await startPostgres({ directory, persistent: true, find }));
  const signal = (name: NodeJS.Signals) => signalTree(service.process.pid, name);
  await start();
  return {
    get url() {
      return service.url;
    },
    start,
    async kill() {
      await signal('SIGKILL');
      await service.process.ended;
    },
    signal,
    empty: async () => undefined,
    async stop() {
      await signal('SIGCONT');
      await service.process.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
