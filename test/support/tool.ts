import { fileURLToPath } from 'node:url';
import { debianServer } from '#local/servers/debian-package.js';
import { findServers, type FoundServer, machineLookup } from '#local/servers/find-server.js';
import { progressOn } from '#local/servers/progress.js';
import { unprivilegedUser } from '#local/servers/run-command.js';

type Name = FoundServer['name'];

const found = new Map<Name, Promise<FoundServer>>();

/** Finds an installed program, or unpacks the distribution's package into `.local` without root. */
export function findTool(name: Name): Promise<FoundServer> {
  // Concurrent calls, such as for the nodes of a cluster, share one search.
  const tool = found.get(name) ?? find(name);
  found.set(name, tool);
  return tool;
}

async function find(name: Name): Promise<FoundServer> {
  const user = name === 'postgres' ? await unprivilegedUser() : undefined;
  const [installed] = await findServers(name, machineLookup(process.env), user);
  if (installed) return installed;
  const folder = fileURLToPath(new URL('../../.local/', import.meta.url));
  return debianServer(name, folder, { user, env: process.env, progress: progressOn(process.stderr) });
}
