import { Inject, Injectable } from '@nestjs/common';
import { Cluster } from 'ioredis';
import { ClusterMasters } from './cluster-masters.js';
import type { RedisClient } from './redis-client.js';
import { REDIS } from './redis.token.js';

/** What others than stores may know of the connection to Redis: when a server begins to serve us, and whether all do. */
@Injectable()
export class RedisConnection {
  private readonly masters: ClusterMasters | undefined;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    if (redis instanceof Cluster) this.masters = new ClusterMasters(redis);
  }

  /**
   * Calls back whenever a server begins to serve us: at start, after every fail-over and after every restart. It may
   * have lost the last writes. In a Cluster that is each master, while the connection as a whole stays.
   */
  onReady(callback: () => void): void {
    if (this.redis.status === 'ready') callback();
    if (this.masters) this.masters.onChange(callback);
    else this.redis.on('ready', callback);
  }

  /** Rejects while a part of what is stored cannot be reached. */
  async check(): Promise<void> {
    await (this.masters ? this.masters.check() : this.redis.ping());
  }
}
