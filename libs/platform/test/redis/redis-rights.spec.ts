import { Redis } from 'ioredis';
import { redisClient } from '#platform/redis/redis-client.js';
import { REDIS_PROCESSES, type RedisProcess, redisRightsDifference } from '#platform/redis/redis-rights.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { withCredentials } from '#test/support/process-credentials.js';

const APPS = ['authorize', 'token'] as const;

/** Calls, and the processes that may make them. */
const ATTEMPTS: readonly (readonly [string, readonly string[], readonly RedisProcess[]])[] = [
  ['read a session of a user', ['GET', 'session:x'], ['authorize']],
  ['create a session of a user', ['SET', 'session:x', '{}'], ['authorize']],
  ['read a session of an operator', ['GET', 'console:session:x'], ['console']],
  ['create a session of an operator', ['SET', 'console:session:x', '{}'], ['console']],
  ['read a kept form of the console', ['GET', 'console:form:x'], ['console']],
  ['delete a grant', ['DEL', 'grant:x'], APPS],
  ['forget a used DPoP proof', ['SET', 'dpop:x', '1'], ['token']],
  ['forget a used client assertion', ['EXPIRE', 'assertions:x', '0'], ['token']],
  ['forget failed logins', ['DEL', '{throttle}:x'], ['authorize']],
  ['forget an ended session', ['DEL', 'ended:x'], ['authorize']],
  ['move a key of another process', ['RENAME', 'console:session:x', 'grant:x'], []],
  ['copy a key of another process', ['COPY', 'session:x', 'dpop:x'], []],
  [
    'read a key of another process by a script',
    ['EVAL', `return redis.call('GET', KEYS[1])`, '1', 'console:session:x'],
    ['console'],
  ],
  [
    'read a key of another process by a script that does not declare the key',
    ['EVAL', `return redis.call('GET', 'console:session:x')`, '0'],
    ['console'],
  ],
  ['empty the server by a script', ['EVAL', `return redis.call('FLUSHALL')`, '0'], []],
  ['empty the server', ['FLUSHALL'], []],
  ['empty the database', ['FLUSHDB'], []],
  ['exchange databases', ['SWAPDB', '0', '1'], []],
  ['list all keys', ['KEYS', '*'], []],
  ['scan keys', ['SCAN', '0'], []],
  ['find a random key', ['RANDOMKEY'], []],
  ['read the configuration', ['CONFIG', 'GET', 'requirepass'], []],
  ['change the configuration', ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'], []],
  ['list users', ['ACL', 'LIST'], []],
  ['read the hash of a password', ['ACL', 'GETUSER', 'default'], []],
  ['create a user', ['ACL', 'SETUSER', 'eve', 'on', 'nopass', '~*', '+@all'], []],
  ['delete all scripts', ['SCRIPT', 'FLUSH'], []],
  ['load a function', ['FUNCTION', 'LOAD', '#!lua name=x'], []],
  ['read the commands of other clients', ['MONITOR'], []],
  ['list connections', ['CLIENT', 'LIST'], []],
  ['end other connections', ['CLIENT', 'KILL', 'ID', '0'], []],
  ['make the server a replica', ['REPLICAOF', '192.0.2.1', '6379'], []],
  ['write the data to a file', ['SAVE'], []],
  ['publish a message', ['PUBLISH', 'x', 'x'], []],
];

describe('the user of Redis of each process', () => {
  let services: Isolated;
  let clients: Readonly<Record<RedisProcess, Redis>>;

  beforeAll(async () => {
    services = await isolate();
    clients = Object.fromEntries(
      REDIS_PROCESSES.map((process) => [process, new Redis(urlOf(process))]),
    ) as typeof clients;
  });
  afterAll(async () => {
    for (const client of Object.values(clients)) client.disconnect();
    await services.close();
  });

  const urlOf = (process: RedisProcess) =>
    withCredentials(process, { REDIS_URL: services.redisUrl }).REDIS_URL;

  /** Any error but a missing permission means that the process has the right. */
  async function may(process: RedisProcess, [command = '', ...args]: readonly string[]): Promise<boolean> {
    return clients[process].call(command, ...args).then(
      () => true,
      ({ message }: Error) => !/NOPERM|ACL failure|user executing the script can't/.test(message),
    );
  }

  it.each(ATTEMPTS)('may %s only if the process does so', async (_, call, allowed) => {
    const found = [];
    for (const process of REDIS_PROCESSES) if (await may(process, call)) found.push(process);
    expect(found).toEqual(allowed);
  });

  it.each(REDIS_PROCESSES)('has every right of %s, and no other', async (process) => {
    const redis = redisClient(urlOf(process));
    const user = new URL(urlOf(process)).username;
    expect(await redisRightsDifference(redis, process)).toEqual({ user, extra: [], missing: [] });
    redis.disconnect();
  });

  it('differs if rights are added and removed', async () => {
    const redis = redisClient(urlOf('token'));
    const user = new URL(urlOf('token')).username;
    const administrator = new Redis(services.redisUrl);
    await administrator.acl('SETUSER', 'differs', 'on', '>x', '~grant:*', '~session:*', '+@all', '-hset');
    const other = redisClient(
      Object.assign(new URL(services.redisUrl), { username: 'differs', password: 'x' }).href,
    );
    const { extra, missing } = await redisRightsDifference(other, 'token');
    expect(extra).toEqual(expect.arrayContaining(['FLUSHALL', 'CONFIG GET', 'keys session:*']));
    expect(extra).not.toContain('keys console:*');
    expect(missing).toEqual([
      'HSET',
      'keys exchanged:{grant:*',
      'keys {par}:*',
      'keys {device}:*',
      'keys assertions:*',
      'keys dpop:*',
      'keys dpop-from:*',
      'keys event-requests:*',
    ]);
    expect(await redisRightsDifference(redis, 'token')).toEqual({ user, extra: [], missing: [] });
    await administrator.acl('DELUSER', 'differs');
    for (const client of [redis, other, administrator]) client.disconnect();
  });
});
