import { type Cluster, Redis, type RedisOptions } from 'ioredis';
import { ImpatientCluster } from './impatient-cluster.js';
import { parseRedisUrl } from './redis-url.js';

/** What stores work on. Each of their commands names one key, or keys of one slot. */
export type RedisClient = Redis | Cluster;

/** For one connection, made for transitions that must not be carried out twice behind our back. */
const connection = (timeoutMs: number) =>
  ({
    // A transition whose answer was lost may have happened: the client repeats it, the driver must not.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    // A machine that died closes nothing: without this the kernel would keep on sending to it for a quarter of an hour.
    socketTimeout: timeoutMs + 1_000,
  }) satisfies RedisOptions;

const reconnecting = (timeoutMs: number) =>
  ({
    ...connection(timeoutMs),
    connectTimeout: timeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
    // A replica that has just been promoted, or is about to be: connect anew to reach the master.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  }) satisfies RedisOptions;

/**
 * Connects to what REDIS_URL names, for ever.
 *
 * @param timeoutMs in which time a command must be answered, in milliseconds
 * @throws when REDIS_URL names nothing
 */
export function redisClient(text: string, timeoutMs = 2_000): RedisClient {
  const servers = parseRedisUrl(text);
  if (!servers) throw new Error('REDIS_URL names no Redis');
  if (servers.kind === 'single') return new Redis(servers.url, reconnecting(timeoutMs));
  const { username, password, tls } = servers;
  const login = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  if (servers.kind === 'cluster')
    return new ImpatientCluster(
      servers.nodes,
      { ...connection(timeoutMs), ...login, ...(tls && { tls: {} }) },
      timeoutMs,
    );
  const { sentinels, master: name, database: db, sentinelUsername, sentinelPassword } = servers;
  return new Redis({
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
    // Leaves a master that was replaced as soon as the Sentinels say so, also when it is silent and closes nothing.
    failoverDetector: true,
  });
}
