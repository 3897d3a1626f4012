import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl } from './redis-url.js';

/** The client that stores use. Each of their commands names one key, or keys of one slot. */
export type RedisClient = Redis | Cluster;

/** Never executes a command twice: a script may change state. */
const connection = (timeoutMs: number) =>
  ({
    // A command whose answer was lost may have been executed: the OAuth client repeats its request, the driver must not.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    // A machine that died closes no connection: the kernel would go on sending to it for a quarter of an hour.
    socketTimeout: timeoutMs + 1_000,
  }) satisfies RedisOptions;

const reconnecting = (timeoutMs: number) =>
  ({
    ...connection(timeoutMs),
    connectTimeout: timeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
    // The server is a replica now: reconnect to reach the master.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  }) satisfies RedisOptions;

/**
 * Connects to the servers of REDIS_URL, and reconnects for ever.
 *
 * @param timeoutMs timeout of a command, in milliseconds
 * @throws Error for an invalid REDIS_URL
 */
export function redisClient(text: string, timeoutMs = 2_000): RedisClient {
  const servers = parseRedisUrl(text);
  if (!servers) throw new Error('REDIS_URL is not a valid Redis URL');
  if (servers.kind === 'single') return new BatchingRedis(servers.url, reconnecting(timeoutMs));
  const { username, password, tls } = servers;
  const login = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  if (servers.kind === 'cluster')
    return new FailFastCluster(
      servers.nodes,
      { ...connection(timeoutMs), ...login, ...(tls && { tls: {} }) },
      timeoutMs,
    );
  const { sentinels, master: name, database: db, sentinelUsername, sentinelPassword } = servers;
  return new BatchingRedis({
    ...reconnecting(timeoutMs),
    ...login,
    sentinels,
    name,
    db,
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: timeoutMs,
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
    // Leaves a replaced master as soon as the Sentinels announce the failover, even if it closes no connection.
    failoverDetector: true,
  });
}

/**
 * Sends the commands of one turn of the event loop in one write: they are those of all requests that have just been read. With
 * a write for each, the system calls are a fifth of what a refresh costs.
 */
class BatchingRedis extends Redis {
  private isCorked = false;

  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    if (!this.isCorked && stream) {
      this.isCorked = true;
      // This connection, whichever is the client's by then: ending it writes what it holds, and breaking it fails the commands.
      stream.cork();
      setImmediate(() => {
        this.isCorked = false;
        stream.uncork();
      });
    }
    return super.sendCommand(...command);
  }
}

/** Retries while some slots have no master: nothing was executed. The sum is well below the timeout of a command. */
const CLUSTER_DOWN = { retryDelayOnClusterDown: 100, maxRedirections: 8 };

/**
 * A fail-fast client of a Redis Cluster: a command succeeds or fails within its timeout, whatever the nodes do. It is sent again
 * only when a node says that it did not execute it (MOVED, ASK, TRYAGAIN, CLUSTERDOWN).
 */
class FailFastCluster extends Cluster {
  private ended = false;

  /** @param commandTimeout milliseconds */
  constructor(
    nodes: readonly { host: string; port: number }[],
    connection: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>,
    private readonly commandTimeout: number,
  ) {
    super([...nodes], {
      // Leaves time for the commands that wait for the connection.
      redisOptions: { ...connection, connectTimeout: commandTimeout * 0.75 },
      ...CLUSTER_DOWN,
      // The driver cannot distinguish a command that was never sent from one whose answer was lost.
      retryDelayOnFailover: 0,
      clusterRetryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
      slotsRefreshTimeout: 1_000,
      // Finds the new master of slots whose old master does not answer.
      slotsRefreshInterval: 2_000,
      // Keeps host names: certificates name them, and each connection resolves them anew.
      dnsLookup: (name, callback) => callback(null, name),
    });
  }

  override sendCommand(...[command, ...rest]: Parameters<Cluster['sendCommand']>): unknown {
    // The driver's timeout does not cover commands that wait until it knows the nodes. CLUSTER commands find them.
    if (this.status !== 'ready' && command.name !== 'cluster') {
      command.reject(new Error('not connected to the Cluster'));
      return command.promise;
    }
    command.setTimeout(this.commandTimeout);
    return super.sendCommand(command, ...rest);
  }

  override disconnect(reconnect = false): void {
    this.ended ||= !reconnect;
    super.disconnect(reconnect);
  }

  /** A refresh in progress at the end would start the next one, and so on: the process would never exit. */
  override refreshSlotsCache(callback?: Parameters<Cluster['refreshSlotsCache']>[0]): void {
    if (!this.ended) super.refreshSlotsCache(callback);
  }
}
