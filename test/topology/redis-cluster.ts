import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, signalProcess, startGuarded } from '#local/servers/guarded-process.js';
import { serverEnvironment } from '#local/servers/find-server.js';
import { findTool } from '../support/tool.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '#local/servers/service-folder.js';

/** Redis process that can be killed and restarted. */
export class RedisNode {
  private process: GuardedProcess | undefined;

  /** @param configuration settings in addition to the address, password and folder */
  constructor(
    readonly port: number,
    private readonly folder: string,
    readonly password: string,
    private readonly configuration: readonly string[],
    private readonly mode: readonly string[] = [],
  ) {}

  async start(): Promise<this> {
    const { command, libraryPath } = await findTool('redis-server');
    const file = join(this.folder, `${this.port}.conf`);
    const lines = [
      'bind 127.0.0.1',
      `port ${this.port}`,
      `requirepass ${this.password}`,
      `dir "${this.folder}"`,
      'daemonize no',
      ...this.configuration,
    ];
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    this.process = startGuarded({
      name: `Redis ${this.port}`,
      command,
      args: [file, ...this.mode],
      cwd: this.folder,
      env: serverEnvironment(libraryPath),
      logFile: join(this.folder, `${this.port}.log`),
      signal: 'SIGTERM',
      grace: 2_000,
    });
    await until(`Redis ${this.port} answers`, 30_000, () =>
      this.ask(async (redis) => (await redis.ping()) === 'PONG'),
    );
    return this;
  }

  async ask<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const { port, password } = this;
    const redis = new Redis({
      port,
      password,
      host: '127.0.0.1',
      retryStrategy: () => null,
      // A process stopped by SIGSTOP never responds.
      commandTimeout: 10_000,
    });
    redis.on('error', () => undefined);
    try {
      return await work(redis);
    } finally {
      // `disconnect` on a closed connection would leave a timer that keeps a Jest worker alive.
      if (redis.status !== 'end') redis.disconnect();
    }
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (this.process) signalProcess(this.process.pid, name);
  }

  async stop(): Promise<void> {
    this.signal('SIGCONT');
    await this.process?.stop();
  }
}

/** Starts a Redis server for one suite, which can be stopped and killed. @param configuration additional settings */
export async function startPrivateRedis(configuration: readonly string[] = []) {
  const folder = await temporaryFolder('private-redis');
  const password = randomBytes(16).toString('hex');
  const node = await new RedisNode(await freePort(), folder, password, ['save ""', ...configuration]).start();
  return {
    node,
    url: `redis://:${password}@127.0.0.1:${node.port}`,
    async close(): Promise<void> {
      await node.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type PrivateRedis = Awaited<ReturnType<typeof startPrivateRedis>>;

const SLOTS = 16_384;
const MASTERS = 3;
/** Time after which a silent node is considered failed. The default is 15 s. */
const NODE_TIMEOUT_MS = 2_000;

/** Three masters with one replica each. */
export class RedisCluster {
  private constructor(
    readonly nodes: readonly RedisNode[],
    private readonly folder: string,
    readonly password: string,
  ) {}

  static async start(): Promise<RedisCluster> {
    const folder = await temporaryFolder('redis-cluster');
    const password = randomBytes(16).toString('hex');
    const nodes: RedisNode[] = [];
    for (let n = 0; n < 2 * MASTERS; n++) {
      // Nodes communicate through a second port, 10,000 above the first.
      const port = await freePort(10_000);
      nodes.push(
        new RedisNode(port, folder, password, [
          `masterauth ${password}`,
          'cluster-enabled yes',
          `cluster-config-file ${port}.nodes`,
          `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
          // Allows a failover to a replica that was stopped for any length of time.
          'cluster-replica-validity-factor 0',
          'save ""',
          'repl-diskless-sync-delay 0',
        ]),
      );
    }
    const cluster = new RedisCluster(nodes, folder, password);
    try {
      await Promise.all(nodes.map((node) => node.start()));
      await cluster.join();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Contains two of the six nodes, through which clients find the others. */
  get url(): string {
    const [first, , , second] = this.nodes;
    return `redis-cluster://:${this.password}@127.0.0.1:${first?.port},127.0.0.1:${second?.port}`;
  }

  /** Asks the nodes in turn until one names the master of the key. @throws Error if no node does */
  async masterOf(key: string): Promise<RedisNode> {
    for (const node of this.nodes) {
      const found = await node
        .ask(async (redis) => {
          const slot = await redis.cluster('KEYSLOT', key);
          const slots = await redis.cluster('SLOTS');
          return slots.find(([first, last]) => first <= slot && slot <= last)?.[2]?.[1];
        })
        .catch(() => undefined);
      const master = this.nodes.find(({ port }) => port === found);
      if (master) return master;
    }
    throw new Error(`no master is known for ${key}`);
  }

  /** Stops the master's replica, so that it misses the last writes before it takes over. @returns the replica */
  async isolateReplica(master: RedisNode): Promise<RedisNode> {
    const replica = await this.replicaOf(master);
    await isolateReplica(replica, master);
    return replica;
  }

  /** Returns the replica of a master. Waits for a restarted node, which does not follow its master immediately. */
  async replicaOf({ port }: RedisNode): Promise<RedisNode> {
    let replica: RedisNode | undefined;
    await until(`a replica follows ${port}`, 30_000, async () => {
      const follows = await Promise.all(
        this.nodes.map((node) =>
          node
            .ask(async (redis) => (await redis.info('replication')).includes(`master_port:${port}\r`))
            .catch(() => false),
        ),
      );
      replica = this.nodes[follows.indexOf(true)];
      return replica !== undefined;
    });
    return replica as RedisNode;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async join(): Promise<void> {
    const masters = this.nodes.slice(0, MASTERS);
    await Promise.all(
      masters.map((node, index) =>
        node.ask(async (redis) => {
          const [first, end] = [index, index + 1].map((n) => Math.floor((n * SLOTS) / MASTERS)) as [
            number,
            number,
          ];
          await redis.cluster('ADDSLOTS', ...Array.from({ length: end - first }, (_, slot) => first + slot));
          await redis.cluster('SET-CONFIG-EPOCH', index + 1);
        }),
      ),
    );
    const [first] = this.nodes as [RedisNode];
    await first.ask(async (redis) => {
      for (const { port } of this.nodes.slice(1)) await redis.cluster('MEET', '127.0.0.1', port);
    });
    const info = (node: RedisNode) => node.ask((redis) => redis.cluster('INFO'));
    await until('all nodes know each other', 30_000, async () =>
      (await Promise.all(this.nodes.map(info))).every(
        (text) =>
          text.includes(`cluster_known_nodes:${this.nodes.length}`) && text.includes('cluster_state:ok'),
      ),
    );
    await Promise.all(
      this.nodes.slice(MASTERS).map(async (replica, index) => {
        const id = await (masters[index] as RedisNode).ask((redis) => redis.cluster('MYID'));
        await until('a replica follows', 30_000, () =>
          replica.ask(async (redis) => (await redis.cluster('REPLICATE', id)) === 'OK'),
        );
      }),
    );
    await until('replicas are in step', 30_000, async () =>
      (
        await Promise.all(
          this.nodes.slice(MASTERS).map((node) => node.ask((redis) => redis.info('replication'))),
        )
      ).every((text) => text.includes('master_link_status:up')),
    );
  }
}

/** Stops a replica after it has received every write of its master, so that it misses all later writes. */
export async function isolateReplica(replica: RedisNode, master: RedisNode): Promise<void> {
  await until('the replica is in step', 30_000, () => master.ask(isInStep));
  replica.signal('SIGSTOP');
  // Closes the connection, because the replica would later read bytes that were already sent.
  await master.ask((redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'replica'));
}

/** Returns true if the replica has received every write of this master. */
async function isInStep(redis: Redis): Promise<boolean> {
  const text = await redis.info('replication');
  const offset = /master_repl_offset:(\d+)/.exec(text)?.[1];
  return offset !== undefined && text.includes(`state=online,offset=${offset},`);
}
