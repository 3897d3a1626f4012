import { Cluster, type ClusterOptions } from 'ioredis';

/** For how long a Cluster that covers not every slot is asked again: it carried out nothing. Well below the time of a command. */
const CLUSTER_DOWN = { retryDelayOnClusterDown: 100, maxRedirections: 8 };

/**
 * A connection to a Redis Cluster that answers or fails within the time of a command, whatever its nodes do, and that
 * sends a command again only where a node said that it did not carry it out (MOVED, ASK, TRYAGAIN, CLUSTERDOWN).
 */
export class ImpatientCluster extends Cluster {
  private over = false;

  /** @param commandTimeout milliseconds */
  constructor(
    nodes: readonly { host: string; port: number }[],
    connection: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>,
    private readonly commandTimeout: number,
  ) {
    super([...nodes], {
      // A slow connection leaves time for the commands that wait for it.
      redisOptions: { ...connection, connectTimeout: commandTimeout * 0.75 },
      ...CLUSTER_DOWN,
      // The driver cannot tell a command that was never sent from one whose answer was lost.
      retryDelayOnFailover: 0,
      clusterRetryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
      slotsRefreshTimeout: 1_000,
      // Finds the new master of slots whose old one is silent.
      slotsRefreshInterval: 2_000,
      // Names stay names: certificates are made out to them, and each connection looks up where they lead by now.
      dnsLookup: (name, callback) => callback(null, name),
    });
  }

  override sendCommand(...[command, ...rest]: Parameters<Cluster['sendCommand']>): unknown {
    // The driver bounds what it sends, not what waits for nodes to be found. Its own questions are on the way to that.
    if (this.status !== 'ready' && command.name !== 'cluster') {
      command.reject(new Error('not connected to the Cluster'));
      return command.promise;
    }
    command.setTimeout(this.commandTimeout);
    return super.sendCommand(command, ...rest);
  }
  override disconnect(reconnect = false): void {
    this.over ||= !reconnect;
    super.disconnect(reconnect);
  }

  /** A round that was under way at the end would begin the next, and so on: the process would live for ever. */
  override refreshSlotsCache(callback?: Parameters<Cluster['refreshSlotsCache']>[0]): void {
    if (!this.over) super.refreshSlotsCache(callback);
  }
}
