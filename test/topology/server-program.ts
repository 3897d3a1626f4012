import { fileURLToPath } from 'node:url';
import { debianServer } from '#local/servers/debian-package.js';
import { type FoundServer, findServers, machineLookup } from '#local/servers/find-server.js';
import { unprivilegedUser } from '#local/servers/system-user.js';

const found = new Map<FoundServer['name'], Promise<FoundServer>>();

/** Finds a server's program like the backing services of a test run: on this machine, else in the distribution's package. */
export function serverProgram(name: FoundServer['name']): Promise<FoundServer> {
  // Concurrent nodes of a cluster share one search.
  const program = found.get(name) ?? find(name);
  found.set(name, program);
  return program;
}

async function find(name: FoundServer['name']): Promise<FoundServer> {
  const user = name === 'postgres' ? await unprivilegedUser() : undefined;
  const [installed] = await findServers(name, machineLookup(process.env), user);
  if (installed) return installed;
  const kept = fileURLToPath(new URL('../../.local/', import.meta.url));
  return debianServer(name, kept, { user, env: process.env, progress: () => undefined });
}
