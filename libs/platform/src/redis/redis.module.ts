import { Cluster } from 'ioredis';
import { type DynamicModule, Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { type RedisStatus, StatusReport } from '../status/status-report.js';
import { type RedisClient, redisClient } from './redis-client.js';
import { Readiness } from '../health/readiness.js';
import { type RedisProcess, redisRightsDifference } from './redis-rights.js';
import { REDIS, RedisConnection } from './redis.connection.js';

/** Reads the configuration of the Redis server or of all masters of a Cluster. Rejects if a server does not respond. */
export async function redisStatus(redis: RedisClient): Promise<RedisStatus> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  if (servers.length === 0) throw new Error('no master is connected');
  const infos = await Promise.all(servers.map(async (server) => fieldsOf(await server.info())));
  const text = (name: string) => [...new Set(infos.map((info) => info.get(name) ?? 'unknown'))].join(',');
  const replays = await Promise.all(servers.map(canReplay));
  return {
    // Valkey also reports the compatible Redis version.
    version: infos.every((info) => info.has('valkey_version'))
      ? text('valkey_version')
      : text('redis_version'),
    maxmemory_policy: text('maxmemory_policy'),
    appendonly: text('aof_enabled').replaceAll('1', 'yes').replaceAll('0', 'no'),
    aof_last_write_status: text('aof_last_write_status'),
    aof_replay: [...new Set(replays)].join(','),
    role: text('role'),
    connected_replicas: Math.min(...infos.map((info) => Number(info.get('connected_slaves') ?? 0))),
  };
}

/** A restart executes the append-only file as the user `default`, and skips what this user may not do (redis#14541). */
async function canReplay(server: Pick<RedisClient, 'call'>): Promise<'yes' | 'no' | 'unknown'> {
  const permitted = (...command: string[]) => server.call('ACL', 'DRYRUN', 'default', ...command);
  const answers = await Promise.all([permitted('MULTI'), permitted('SET', 'key', 'value')]).catch(() => null);
  if (answers === null) return 'unknown';
  return answers.every((answer) => answer === 'OK') ? 'yes' : 'no';
}

function fieldsOf(info: string): ReadonlyMap<string, string> {
  return new Map(
    info
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

/** Interval in which an error is logged once, because a Cluster repeats an error for every command. */
const REPEAT_LOG_MS = 5_000;

const REPORTED_PROCESS = Symbol('process');

interface RedisModuleOptions {
  /** Process whose rights the status reports. */
  readonly process: RedisProcess;
  readonly redisUrl: string;
  readonly timeoutMs?: number;
}

@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    connection: RedisConnection,
    readiness: Readiness,
    status: StatusReport,
    @Inject(REPORTED_PROCESS) process: RedisProcess,
  ) {
    readiness.register('redis', () => connection.check());
    status.register('redis', () => redisStatus(redis));
    status.register('redis_rights', () => redisRightsDifference(redis, process));
  }

  static forRoot({ process, redisUrl, timeoutMs }: RedisModuleOptions): DynamicModule {
    const provider = { provide: REDIS, useFactory: () => withErrorLog(redisClient(redisUrl, timeoutMs)) };
    return {
      module: RedisModule,
      providers: [provider, { provide: REPORTED_PROCESS, useValue: process }, RedisConnection],
      exports: [REDIS, RedisConnection],
    };
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

function withErrorLog(redis: RedisClient): RedisClient {
  const logger = new Logger('Redis');
  const lastLogged = new Map<string, number>();
  const warn = (text: string) => {
    if (Date.now() - (lastLogged.get(text) ?? 0) < REPEAT_LOG_MS) return;
    if (lastLogged.size > 100) lastLogged.clear();
    lastLogged.set(text, Date.now());
    logger.warn(text);
  };
  redis.on('error', ({ message }: Error) => warn(`Redis: ${message}`));
  redis.on('node error', ({ message }: Error, server: string) => warn(`Redis ${server}: ${message}`));
  return redis;
}
