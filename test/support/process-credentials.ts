import { Redis } from 'ioredis';
import { type Client, escapeIdentifier } from 'pg';
import { roleOf } from '#database/grant-rights.js';
import { DATABASE_PROCESSES } from '#database/roles.js';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';
import { aclRules, REDIS_PROCESSES } from '#platform/redis/redis-rights.js';
import { runningTestServices, type TestServices } from './test-services.js';

/** Role or user of this test run with which a process logs in. */
const loginOf = ({ run }: TestServices, process: string): string => `oauth_test_${run}_${process}`;

/** Creates the roles with which the processes log in. The roles that have the rights must exist. */
export async function createRoles(admin: Client, services: TestServices): Promise<void> {
  for (const process of DATABASE_PROCESSES)
    await admin.query(
      `CREATE ROLE ${escapeIdentifier(loginOf(services, process))} LOGIN PASSWORD '${services.password}'
         IN ROLE ${escapeIdentifier(roleOf(DEFAULT_SCHEMA, process))}`,
    );
}

export async function createRedisUsers(services: TestServices): Promise<void> {
  await asRedisAdministrator(services, async (redis) => {
    for (const process of REDIS_PROCESSES)
      await redis.acl(
        'SETUSER',
        loginOf(services, process),
        'on',
        `>${services.password}`,
        ...aclRules(process).split(' '),
      );
  });
}

export async function deleteRedisUsers(services: TestServices): Promise<void> {
  await asRedisAdministrator(services, (redis) =>
    redis.acl('DELUSER', ...REDIS_PROCESSES.map((process) => loginOf(services, process))),
  );
}

async function asRedisAdministrator(
  { redisUrl }: TestServices,
  work: (redis: Redis) => Promise<unknown>,
): Promise<void> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 1 });
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}

const PROCESSES = new Set<string>([...DATABASE_PROCESSES, ...REDIS_PROCESSES]);

/**
 * Returns the settings with the credentials of a process in place of the credentials of the administrator of the test
 * servers. Keeps other credentials, and the URLs of servers that a test starts.
 */
export function withCredentials<Settings extends object>(process: string, settings: Settings): Settings {
  const services = runningTestServices();
  if (!services || !PROCESSES.has(process)) return settings;
  const { DATABASE_URL, REDIS_URL } = settings as { DATABASE_URL?: string; REDIS_URL?: string };
  const own = (url: string) =>
    Object.assign(new URL(url), { username: loginOf(services, process), password: services.password }).href;
  return {
    ...settings,
    ...(isOf(services.databaseUrl, DATABASE_URL) && { DATABASE_URL: own(DATABASE_URL) }),
    ...(isOf(services.redisUrl, REDIS_URL) && { REDIS_URL: own(REDIS_URL) }),
  };
}

/** Returns true for a URL with the administrator's credentials; a proxy has another address. */
function isOf(administrator: string, url: string | undefined): url is string {
  if (url === undefined || !URL.canParse(url)) return false;
  const [own, given] = [new URL(administrator), new URL(url)];
  return own.username === given.username && own.password === given.password;
}
