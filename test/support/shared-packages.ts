import { mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exists } from '#local/servers/service-folder.js';

const UNPACKED = resolve('.local', 'packages');
const SERVERS = ['postgres', 'redis-server', 'nats-server'];

/** Links the servers that this test run has unpacked into another folder for `LOCAL_DIR`. */
export async function sharePackages(folder: string): Promise<void> {
  const packages = join(folder, 'packages');
  await mkdir(packages);
  for (const server of SERVERS) {
    const unpacked = join(UNPACKED, server);
    if (await exists(unpacked)) await symlink(unpacked, join(packages, server));
  }
}
