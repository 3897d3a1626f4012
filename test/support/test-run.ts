import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { withDatabase } from './test-database.js';
import { startBackingServices } from '#local/servers/backing-services.js';
import { progressOn } from '#local/servers/progress.js';
import { publishTestServices } from './test-services.js';

/** Starts the servers of a test run. @returns a function that stops them */
export async function startTestServices(): Promise<() => Promise<void>> {
  const { DATABASE_URL: givenDatabase } = process.env;
  const services = await startBackingServices({
    env: process.env,
    directory: fileURLToPath(new URL('../../.local/', import.meta.url)),
    persistent: false,
    progress: progressOn(process.stderr),
  });
  const { databaseUrl, redisUrl, natsUrl } = services;
  const run = randomBytes(4).toString('hex');
  publishTestServices({ run, databaseUrl, redisUrl, natsUrl });
  return async () => {
    // A private server needs no cleanup, because its data are deleted.
    if (givenDatabase) await dropDatabases(givenDatabase, run);
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
  });
}
