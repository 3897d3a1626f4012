import { fileURLToPath } from 'node:url';
import { debianServer } from '#local/servers/debian-package.js';
import { findServers, type FoundServer, machineLookup } from '#local/servers/find-server.js';
import { progressOn } from '#local/servers/progress.js';

/**
 * A program that some tests need and the product does not: this machine's own, else the distribution's package, unpacked
 * into `.local` without root.
 */
export async function findTool(name: 'nats-server' | 'nginx' | 'openssl'): Promise<FoundServer> {
  const [installed] = await findServers(name, machineLookup(process.env));
  if (installed) return installed;
  const folder = fileURLToPath(new URL('../../.local/', import.meta.url));
  const progress = progressOn(process.stderr);
  return debianServer(name, folder, { user: undefined, env: process.env, progress });
}
