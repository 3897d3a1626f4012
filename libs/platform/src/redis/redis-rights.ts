import { Cluster } from 'ioredis';
import type { RightsDifference } from '../status/status-report.js';
import type { RedisClient } from './redis-client.js';

export const REDIS_PROCESSES = ['authorize', 'token', 'console', 'developers'] as const;
export type RedisProcess = (typeof REDIS_PROCESSES)[number];

interface RedisRights {
  /** Patterns of keys; only the end of a pattern has a wildcard. */
  readonly keys: readonly string[];
  /** Commands that the process sends or its scripts execute, with arguments that Redis accepts; `k` is a key. */
  readonly calls: readonly string[];
}

const list = (text: string): string[] => text.trim().split(/,\s+/);

const GRANT_KEYS = ['grant:*', 'exchanged:{grant:*', '{par}:*', '{device}:*'];
const GRANT_CALLS = list(`
  COPY k k, DEL k, EXISTS k, EXPIRE k 1, GET k, HDEL k f, HGET k f, HINCRBY k f 1, HMGET k f, HSET k f v, HSETNX k f v,
  PEXPIRE k 1, PTTL k, RENAME k k, SET k v, ZADD k 1 m, ZCARD k, ZRANGE k 0 0, ZREMRANGEBYSCORE k 0 1`);

/**
 * Rights of each process, complete: the users of the development installations, of `npm start` and of the tests have
 * these rights, and `doctor` reports differences (docs/adr/0053-rights-of-processes.md).
 */
export const REDIS_RIGHTS: Readonly<Record<RedisProcess, RedisRights>> = {
  authorize: {
    keys: [
      ...GRANT_KEYS,
      ...list(`
        session:*, logged-out:*, replaced:*, sessions-of-user:*, sessions-of-sid:*, ended:*, unnamed:*, flash:*, logout:*,
        logout-return:*, {login}:*, {throttle}:*`),
    ],
    calls: [
      ...GRANT_CALLS,
      ...list(`
        GETDEL k, GETEX k, INCRBY k 1, SADD k m, SMEMBERS k, SREM k m, TTL k, ZREM k m, ZREMRANGEBYRANK k 0 0,
        ZREVRANGE k 0 0`),
    ],
  },
  token: {
    keys: [...GRANT_KEYS, 'assertions:*', 'dpop:*', 'dpop-from:*', 'event-requests:*'],
    calls: [...GRANT_CALLS, 'INCR k', 'ZSCORE k m'],
  },
  console: {
    keys: ['console:*'],
    calls: list(`
      DEL k, EXISTS k, EXPIRE k 1, GET k, GETDEL k, GETEX k, HDEL k f, HGET k f, HGETALL k, HINCRBY k f 1, HMGET k f,
      HSET k f v, INCR k, LINDEX k 0, LPOP k, LRANGE k 0 0, PEXPIRE k 1, PTTL k, RPOP k, RPUSH k v, SADD k m, SCARD k,
      SET k v, SMEMBERS k, ZADD k 1 m, ZREMRANGEBYRANK k 0 0, ZREVRANGE k 0 0, MULTI, EXEC`),
  },
  developers: {
    keys: ['developers:*'],
    calls: list('DEL k, GET k, GETDEL k, GETEX k, INCR k, PEXPIRE k 1, PTTL k, SET k v'),
  },
};

/** Commands of the driver: scripts, the clock of their deadlines, status, and the nodes of a Cluster. */
const CONNECTION =
  '-@all +@connection -@admin -@dangerous +eval +evalsha +time +info +acl|whoami +acl|dryrun +cluster|slots +cluster|info';

/** Calls that no process needs. */
const ADMINISTRATION = list(`
  FLUSHALL, FLUSHDB, SWAPDB 0 1, KEYS *, SCAN 0, RANDOMKEY, CONFIG GET x, CONFIG SET x y, ACL LIST, ACL SETUSER x,
  SCRIPT FLUSH, FUNCTION FLUSH, SHUTDOWN, SAVE, DEBUG SLEEP 0, MONITOR, CLIENT LIST, CLIENT KILL x, REPLICAOF NO ONE,
  CLUSTER RESET, PUBLISH c m, SUBSCRIBE c`);

/** Returns the rules of a user, as in `ACL SETUSER` and an ACL file, without the password. */
export function aclRules(process: RedisProcess): string {
  const { keys, calls } = REDIS_RIGHTS[process];
  const commands = calls.map((call) => `+${commandOf(call).toLowerCase()}`).sort();
  return ['resetchannels', ...keys.map((key) => `~${key}`), CONNECTION, ...commands].join(' ');
}

/** Compares the user of a connection with the rights that the process needs, at every master of a Cluster. */
export async function redisRightsDifference(
  redis: RedisClient,
  process: RedisProcess,
): Promise<RightsDifference> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const { keys, calls } = REDIS_RIGHTS[process];
  const [first = ''] = keys;
  const needed = [
    ...calls.map((call) => [commandOf(call), call.replaceAll(/\bk\b/g, exampleOf(first))] as const),
    ...keys.map((key) => [`keys ${key}`, `GET ${exampleOf(key)}`] as const),
  ];
  const others = REDIS_PROCESSES.flatMap((other) => REDIS_RIGHTS[other].keys).filter(
    (key) => !keys.includes(key),
  );
  const forbidden = [
    ...ADMINISTRATION.map((call) => [/^[A-Z]+(?: [A-Z]{3}\S*)*/.exec(call)?.[0] ?? call, call] as const),
    ...[...new Set(others), '*'].map((key) => [`keys ${key}`, `GET ${exampleOf(key)}`] as const),
  ];
  const user = String(await servers[0]?.call('ACL', 'WHOAMI'));
  const permitted = async (call: string) => {
    const answers = await Promise.all(
      servers.map((server) => server.call('ACL', 'DRYRUN', user, ...call.split(' '))),
    );
    return answers.map((answer) => answer === 'OK');
  };
  const found = async (probes: typeof needed, isWrong: (answers: boolean[]) => boolean) => {
    const answers = await Promise.all(
      probes.map(async ([name, call]) => [name, isWrong(await permitted(call))] as const),
    );
    return answers.flatMap(([name, wrong]) => (wrong ? [name] : []));
  };
  return {
    user,
    missing: await found(needed, (answers) => answers.includes(false)),
    extra: await found(forbidden, (answers) => answers.includes(true)),
  };
}

const commandOf = (call: string): string => call.split(' ', 1)[0] ?? '';

/** Key that a pattern matches. */
const exampleOf = (pattern: string): string => pattern.replace('*', 'x');
