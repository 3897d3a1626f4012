import { readdir, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runCommand, type SystemUser } from './run-command.js';

/** A program that this machine can run. */
export interface FoundServer {
  name: 'postgres' | 'redis-server' | 'nats-server' | 'nginx' | 'openssl' | 'promtool';
  command: string;
  /** Such as "postgres (PostgreSQL) 15.20". */
  version: string;
  /** Library folders of an unpacked package. */
  libraryPath?: string;
}

const VERSION_FLAGS: Partial<Record<FoundServer['name'], string>> = { nginx: '-v', openssl: 'version' };

/** Places to search for servers. */
export interface Lookup {
  /** Folders separated like PATH. */
  path: string;
  /** Folders to search after PATH. */
  folders: readonly string[];
  /** Parents of PostgreSQL's `<version>/bin` folders. */
  postgresRoots: readonly string[];
}

/** Returns this machine's places, including folders that are often missing from PATH. */
export function machineLookup(env: NodeJS.ProcessEnv): Lookup {
  return {
    path: env['PATH'] ?? '',
    folders: ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin'],
    postgresRoots: ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'],
  };
}

/** Returns the programs that the user can run, in the order of `lookup`. Newer versions in `postgresRoots` are first. */
export async function findServers(
  name: FoundServer['name'],
  lookup: Lookup,
  user?: SystemUser,
  libraryPath?: string,
): Promise<FoundServer[]> {
  const folders = [...lookup.path.split(delimiter), ...lookup.folders];
  if (name === 'postgres') folders.push(...(await postgresFolders(lookup.postgresRoots)));
  const commands = new Set<string>();
  for (const folder of folders) {
    if (!folder.startsWith('/')) continue;
    // Resolves symbolic links in PATH, because initdb is in the folder of the link's target.
    const command = await realpath(join(folder, name)).catch(() => undefined);
    // redis-server may be a link to a program whose behaviour depends on the name it is called by.
    if (command) commands.add(name === 'redis-server' ? join(folder, name) : command);
  }
  const found = await Promise.all(
    [...commands].map((command) => checkServer(name, command, user, libraryPath)),
  );
  return found.filter((server) => server !== undefined);
}

async function checkServer(
  name: FoundServer['name'],
  command: string,
  user?: SystemUser,
  libraryPath?: string,
): Promise<FoundServer | undefined> {
  const env = serverEnvironment(libraryPath);
  const flag = VERSION_FLAGS[name] ?? '--version';
  const { code, stdout, stderr } = await runCommand(command, [flag], { user, env, timeout: 60_000 });
  if (code !== 0) return undefined;
  return { name, command, version: (stdout || stderr).trim(), ...(libraryPath ? { libraryPath } : {}) };
}

async function postgresFolders(roots: readonly string[]): Promise<string[]> {
  const found: { version: number; folder: string }[] = [];
  for (const root of roots) {
    for (const entry of await readdir(root).catch(() => [])) {
      const version = Number(/^(?:postgresql@)?(\d+(?:\.\d+)?)$/.exec(entry)?.[1] ?? Number.NaN);
      if (!Number.isNaN(version)) found.push({ version, folder: join(root, entry, 'bin') });
    }
  }
  return found.sort((a, b) => b.version - a.version).map(({ folder }) => folder);
}

/** Inherits only PATH, because inherited PG…, NODE_… and LC_… variables would change the server's behaviour. */
export function serverEnvironment(libraryPath?: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LANG: 'C',
    LC_ALL: 'C',
    TZ: 'GMT',
    ...(libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {}),
  };
}
