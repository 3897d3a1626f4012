import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { DependencyUnavailableError } from '../errors.js';
import { parseRedisUrl } from './redis-url.js';
import { addDeadlines, checkDeadline, deadlineOf, LATE } from './script-deadline.js';

/** Client of the stores. Every command must use keys of a single slot. */
export type RedisClient = Redis | Cluster;

/** @throws DependencyUnavailableError for every driver error; Redis may have executed the command anyway */
export async function withRedisErrors<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new DependencyUnavailableError('redis', cause);
  }
}

/** Returns true if Redis has not executed the script, because the script did not start before its deadline. */
export function isLate({ cause }: DependencyUnavailableError): boolean {
  return cause instanceof Error && cause.message.startsWith(LATE);
}

type Argument = string | number;

export interface Script<Name extends string = never> {
  readonly lua: string;
  /** Names of the first arguments (ARGV), in order. */
  readonly names: readonly Name[];
}

type Scripts = Readonly<Record<string, Script<string>>>;

/** Values by name. Null becomes an empty string, except at the end. */
type Values<Name extends string> = Readonly<Record<Name, Argument | null>>;

/**
 * Runs a script on keys of one slot in one round trip. Trailing null values are not sent, so the script reads nil. The
 * list follows the named arguments.
 * @throws DependencyUnavailableError
 */
export type RunScript<S extends Scripts> = <Name extends keyof S>(
  name: Name,
  keys: readonly string[],
  values: Values<S[Name]['names'][number]>,
  list?: readonly Argument[],
) => Promise<unknown>;

/**
 * Defines a script whose arguments are Lua locals. ARGV[1] is the deadline, ARGV[LIST] is the first element of the
 * list, and `server_now` is the server's time in milliseconds.
 */
export function script<const Name extends string = never>(names: readonly Name[], lua: string): Script<Name> {
  const locals = [...names, 'LIST'].join(', ');
  const values = [...names.map((_, at) => `ARGV[${at + 2}]`), names.length + 2].join(', ');
  return { lua: `local ${locals} = ${values}\n${lua}`, names };
}

type Command = (keys: number, ...args: Argument[]) => Promise<unknown>;

/** Timeout of a client that has none, which only tests use. */
const NO_TIMEOUT_MS = 60_000;

/**
 * A script that starts after its caller has given up changes nothing.
 * @param scripts scripts by name, unique in the process; ioredis sends a script once, and later only its hash
 */
export function defineScripts<S extends Scripts>(redis: RedisClient, scripts: S): RunScript<S> {
  const { commandTimeout: timeout = NO_TIMEOUT_MS } =
    redis instanceof Cluster ? (redis as FailFastCluster) : redis.options;
  const check = checkDeadline(timeout);
  for (const [name, { lua }] of Object.entries(scripts)) redis.defineCommand(name, { lua: check + lua });
  addDeadlines(redis);
  const commands = redis as unknown as Record<keyof S, Command>;
  return (name, keys, values, list = []) => {
    const named = (scripts[name] as Script<keyof typeof values>).names.map((argument) => values[argument]);
    const sent = list.length > 0 ? named : named.slice(0, named.findLastIndex((value) => value !== null) + 1);
    const args = [...sent.map((value) => value ?? ''), ...list];
    return withRedisErrors(commands[name](keys.length, ...keys, deadlineOf(timeout), ...args));
  };
}

const connection = (timeoutMs: number) =>
  ({
    // The driver must not resend a command whose reply was lost, because Redis may have executed it.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    // A crashed machine does not close its connections, and the kernel would retransmit for a quarter of an hour.
    socketTimeout: timeoutMs + 1_000,
  }) satisfies RedisOptions;

const reconnecting = (timeoutMs: number) =>
  ({
    ...connection(timeoutMs),
    connectTimeout: timeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
    // Reconnects to reach the master if the server became a replica.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  }) satisfies RedisOptions;

/** Connects to the servers of REDIS_URL, and reconnects forever. @throws Error if the URL is invalid */
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
    // Disconnects from a demoted master when the Sentinels announce the failover.
    failoverDetector: true,
  });
}

/**
 * Sends the commands of one turn of the event loop in one write, which makes a refresh a fifth cheaper
 * (docs/adr/0030-redis-writes.md).
 */
class BatchingRedis extends Redis {
  private isCorked = false;

  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    if (!this.isCorked && stream) {
      this.isCorked = true;
      // Uncorks this stream even after a reconnect. An ended stream is flushed; a destroyed stream fails the commands.
      stream.cork();
      setImmediate(() => {
        this.isCorked = false;
        stream.uncork();
      });
    }
    return super.sendCommand(...command);
  }
}

/** Retries commands that CLUSTERDOWN rejected. The total delay is below the timeout of a command. */
const CLUSTER_DOWN = { retryDelayOnClusterDown: 100, maxRedirections: 8 };

/**
 * Fails commands after the timeout. Repeats only commands that the node has not executed (MOVED, ASK, TRYAGAIN,
 * CLUSTERDOWN).
 */
class FailFastCluster extends Cluster {
  private ended = false;

  constructor(
    nodes: readonly { host: string; port: number }[],
    connection: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>,
    readonly commandTimeout: number,
  ) {
    super([...nodes], {
      // Below the command timeout, so that waiting commands can still succeed.
      redisOptions: { ...connection, connectTimeout: commandTimeout * 0.75 },
      ...CLUSTER_DOWN,
      // The driver cannot distinguish an unsent command from a command whose reply was lost.
      retryDelayOnFailover: 0,
      clusterRetryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
      slotsRefreshTimeout: 1_000,
      // Detects a new master after the old master stops responding.
      slotsRefreshInterval: 2_000,
      // Keeps host names, which certificates contain and which each connection must resolve again.
      dnsLookup: (name, callback) => callback(null, name),
    });
  }

  override sendCommand(...[command, ...rest]: Parameters<Cluster['sendCommand']>): unknown {
    // The driver's timeout does not cover commands queued before node discovery, which uses CLUSTER commands.
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

  /** Without this check, each refresh after `disconnect` would schedule the next, and the process would never exit. */
  override refreshSlotsCache(callback?: Parameters<Cluster['refreshSlotsCache']>[0]): void {
    if (!this.ended) super.refreshSlotsCache(callback);
  }
}
