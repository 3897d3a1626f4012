import { resolve } from 'node:path';
import { migrate } from '#database/connection/migrate.js';
import { startBackingServices } from '#local/servers/backing-services.js';
import { progressOn } from '#local/servers/progress.js';
import { createTrail, type Isolated } from '#test/support/isolate.js';

/** Starts migrated servers for a tool. Ignores servers named by the environment. */
export async function startPrivateServices(): Promise<Isolated> {
  const services = await startBackingServices({
    env: { PATH: process.env['PATH'] },
    directory: resolve('.local'),
    persistent: false,
    progress: progressOn(process.stderr),
  });
  await migrate(services.databaseUrl);
  // Without a stream, the apps' buffers of audit events grow by up to 16 million characters.
  await createTrail(services.natsUrl);
  return { ...services, close: () => services.stop() };
}
