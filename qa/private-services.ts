import { resolve } from 'node:path';
import { migrate } from '#database/migrate.js';
import { startBackingServices } from '#local/servers/backing-services.js';
import { progressOn } from '#local/servers/progress.js';
import { createTrail, type Isolated } from '#test/support/isolate.js';

/** Starts private servers with a migrated database. Ignores servers in the environment. */
export async function startPrivateServices(): Promise<Isolated> {
  const services = await startBackingServices({
    env: { PATH: process.env['PATH'] },
    directory: resolve('.local'),
    persistent: false,
    progress: progressOn(process.stderr),
  });
  await migrate(services.databaseUrl);
  // Without a stream, each app would buffer up to 16 million characters of audit events.
  await createTrail(services.natsUrl);
  return { ...services, close: () => services.stop() };
}
