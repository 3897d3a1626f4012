import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { withDatabase } from './test-database.js';
import { startBackingServices } from '#local/servers/backing-services.js';
import { progressOn } from '#local/servers/progress.js';
import { createRedisUsers, deleteRedisUsers } from './process-credentials.js';
import { publishTestServices } from './test-services.js';

/** Starts the servers of a test run. @returns a function that stops them */
export async function startTestServices(): Promise<() => Promise<void>> {
  const { DATABASE_URL: givenDatabase, REDIS_URL: givenRedis } = process.env;
  const services = await startBackingServices({
    env: process.env,
    directory: fileURLToPath(new URL('../../.local/', import.meta.url)),
    persistent: false,
    progress: progressOn(process.stderr),
  });
  const { databaseUrl, redisUrl, natsUrl } = services;
  const run = randomBytes(4).toString('hex');
  const password = randomBytes(16).toString('hex');
  const own = { run, password, databaseUrl, redisUrl, natsUrl };
  publishTestServices(own);
  await createRedisUsers(own);
  return async () => {
    // A private server needs no cleanup, because its data are deleted.
    if (givenDatabase) await dropDatabases(givenDatabase, run);
    if (givenRedis) await deleteRedisUsers(own);
    await services.stop();
  };
}

async function dropDatabases(url: string, run: string): Promise<void> {
  await withDatabase(url, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE datname LIKE $1 OR datname LIKE $2',
      [`oauth\\_template\\_${run}%`, `oauth\\_test\\_${run}\\_%`],
    );
    for (const { datname } of rows) await admin.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
    const logins = await admin.query<{ rolname: string }>(
      'SELECT rolname FROM pg_roles WHERE rolname LIKE $1',
      [`oauth\\_test\\_${run}\\_%`],
    );
    for (const { rolname } of logins.rows) await admin.query(`DROP ROLE ${rolname}`);
  });
}
