import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { freePort } from '#local/servers/free-port.js';
import { RedisNode } from './redis-node.js';
import { until } from '../support/until.js';

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
    const folder = await mkdtemp(join(tmpdir(), 'redis-cluster-'));
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
