import { Inject, Injectable } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './redis-client.js';

export const REDIS = Symbol('redis');

@Injectable()
export class RedisConnection {
  private readonly masters: ClusterMasters | undefined;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    if (redis instanceof Cluster) this.masters = new ClusterMasters(redis);
  }

  /**
   * Calls back immediately if Redis is ready, and whenever the server or a master of the Cluster becomes ready, because
   * it may have lost its latest writes.
   */
  onReady(callback: () => void): void {
    if (this.redis.status === 'ready') callback();
    if (this.masters) this.masters.onChange(callback);
    else this.redis.on('ready', callback);
  }

  /** Rejects while some keys are unavailable. */
  async check(): Promise<void> {
    await (this.masters ? this.masters.check() : this.redis.ping());
  }
}

class ClusterMasters {
  private known: ReadonlySet<string> = new Set();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly cluster: Cluster) {
    cluster.on('refresh', () => this.update());
    cluster.on('+node', (node: Redis) => this.follow(node));
    cluster.nodes().forEach((node) => this.follow(node));
    if (cluster.status === 'ready') this.update();
  }

  /** Calls back when a node begins to serve slots: at startup, after a failover, or after a reconnect. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Rejects while a slot has no responding master, or a master reports `cluster_state` other than ok. */
  async check(): Promise<void> {
    if (this.known.size === 0) throw new Error('no node of the Cluster was reached yet');
    const nodes = new Map(this.cluster.nodes('master').map((node) => [keyOf(node), node]));
    const answers = await Promise.all(
      [...this.known].map((key) => {
        const node = nodes.get(key);
        if (!node) throw new Error(`the master ${key} is not connected`);
        return node.cluster('INFO');
      }),
    );
    if (!answers.every((answer) => answer.includes('cluster_state:ok')))
      throw new Error('cluster_state is not ok: some slots are not served');
  }

  private follow(node: Redis): void {
    // A master that becomes ready again may have lost its latest writes.
    node.on('ready', () => this.known.has(keyOf(node)) && this.notify());
  }

  private update(): void {
    const before = this.known;
    this.known = new Set(this.cluster.nodes('master').map(keyOf));
    if ([...this.known].some((key) => !before.has(key))) this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

function keyOf({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}
