import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { roleOf } from '#database/grant-rights.js';
import { DATABASE_PROCESSES, type DatabaseProcess } from '#database/roles.js';
import { aclRules, REDIS_PROCESSES, type RedisProcess } from '#platform/redis/redis-rights.js';
import { keptSecret } from '../servers/service-folder.js';

export interface ProcessUrls {
  readonly database: Readonly<Record<DatabaseProcess, string>>;
  readonly redis: Readonly<Record<RedisProcess, string>>;
}

/** Returns one URL for every process, as for a server that the environment names. */
export const sameUrl = <Process extends string>(
  processes: readonly Process[],
  url: string,
): Readonly<Record<Process, string>> =>
  Object.fromEntries(processes.map((process) => [process, url])) as Record<Process, string>;

/**
 * Creates the roles with which the processes log in to a private server, and returns their URLs.
 * @param administrator URL of a superuser
 * @param schema schema of the tables, which are migrated
 * @param folder folder of the passwords
 */
export async function databaseUrls(
  administrator: string,
  schema: string,
  folder: string,
): Promise<ProcessUrls['database']> {
  const client = new Client({ connectionString: administrator });
  await client.connect();
  try {
    return await urlsOf(DATABASE_PROCESSES, administrator, folder, async (process, password) => {
      const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [process]);
      if (!rowCount) await client.query(`CREATE ROLE ${process}`);
      await client.query(`ALTER ROLE ${process} LOGIN PASSWORD ${escapeLiteral(password)}`);
      await client.query(`GRANT ${escapeIdentifier(roleOf(schema, process))} TO ${process}`);
    });
  } finally {
    await client.end();
  }
}

/** Creates the users of the processes at a private server, which forgets them when it stops. */
export async function redisUrls(administrator: string, folder: string): Promise<ProcessUrls['redis']> {
  const redis = new Redis(administrator);
  try {
    return await urlsOf(REDIS_PROCESSES, administrator, folder, (process, password) =>
      redis.acl('SETUSER', process, 'reset', 'on', `>${password}`, ...aclRules(process).split(' ')),
    );
  } finally {
    redis.disconnect();
  }
}

async function urlsOf<Process extends string>(
  processes: readonly Process[],
  administrator: string,
  folder: string,
  create: (process: Process, password: string) => Promise<unknown>,
): Promise<Readonly<Record<Process, string>>> {
  const urls: [Process, string][] = [];
  for (const process of processes) {
    const password = await keptSecret(join(folder, `password-${process}`));
    await create(process, password);
    urls.push([process, Object.assign(new URL(administrator), { username: process, password }).href]);
  }
  return Object.fromEntries(urls) as Record<Process, string>;
}
