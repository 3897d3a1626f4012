import { mkdtemp, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Apt } from './apt.js';
import { findServers, type FoundServer, serverEnvironment } from './find-server.js';
import { exists, localFolder } from './service-folder.js';
import type { Progress } from './progress.js';
import { runCommand, type SystemUser } from './run-command.js';
import { Workspace } from './workspace.js';

// The package redis-tools contains the program of Redis; redis-server contains only a link to it.
const PACKAGES = {
  postgres: ['postgresql-[0-9]+'],
  'redis-server': ['redis-server', 'redis-tools'],
  'nats-server': ['nats-server'],
  nginx: ['nginx'],
  openssl: ['openssl'],
  promtool: ['prometheus'],
};

const NAMES = {
  postgres: 'PostgreSQL',
  'redis-server': 'Redis',
  'nats-server': 'NATS',
  nginx: 'nginx',
  openssl: 'openssl',
  promtool: 'promtool',
};

/** A server that `user` must be able to run from `folder`. */
export interface WantedServer {
  server: FoundServer['name'];
  folder: string;
  user: SystemUser | undefined;
}

export interface PackageOptions {
  env: NodeJS.ProcessEnv;
  progress: Progress;
}

/** Unpacks packages once into `<folder>/packages`, without root. @throws Error that lists all missing servers */
export async function debianServers(
  wanted: readonly WantedServer[],
  options: PackageOptions,
): Promise<FoundServer[]> {
  const found = await Promise.all(wanted.map(unpacked));
  const missing = wanted.filter((_, index) => !found[index]);
  if (missing.length > 0) {
    const absent = `${listed(missing)} ${missing.length > 1 ? 'are' : 'is'} not on this machine`;
    await unpackAll(missing, options, absent).catch((cause: Error) => {
      throw new Error(`${absent}, and the distribution's packages are not available:\n  ${cause.message}`, {
        cause,
      });
    });
  }
  return Promise.all(wanted.map(async (program, index) => found[index] ?? runnable(program)));
}

export async function debianServer(
  server: FoundServer['name'],
  folder: string,
  { user, ...options }: PackageOptions & Pick<WantedServer, 'user'>,
): Promise<FoundServer> {
  const wanted = { server, folder, user };
  const [found] = await debianServers([wanted], options);
  return found ?? runnable(wanted);
}

/** Returns names such as "PostgreSQL, Redis and NATS". */
export function listed(servers: readonly Pick<WantedServer, 'server'>[]): string {
  return new Intl.ListFormat('en-GB').format(servers.map(({ server }) => NAMES[server]));
}

/** Draft of `<folder>/packages/<server>`, deleted when this process ends. */
interface Tree extends WantedServer {
  draft: string;
  path: string;
}

type Filling = readonly [tree: Tree, packages: readonly string[]];

/** Unpacks the servers, and moves each tree into place atomically. */
async function unpackAll(
  wanted: readonly WantedServer[],
  { env, progress }: PackageOptions,
  why: string,
): Promise<void> {
  const workspace = new Workspace(env);
  try {
    const trees: Tree[] = [];
    for (const program of wanted) {
      await localFolder(program.folder);
      const draft = await workspace.folder(join(program.folder, 'packages'));
      trees.push({ ...program, draft, path: join(draft, 'tree') });
    }
    const downloads = trees[0]?.draft ?? '';
    const apt = new Apt(workspace, downloads, env, progress);
    await apt.required();
    progress(`${why}: unpacking the distribution's packages`);
    const fill = async (fillings: readonly Filling[]): Promise<void> => {
      const names = [...new Set(fillings.flatMap(([, packages]) => packages))];
      if (names.length === 0) return;
      const into = await mkdtemp(join(downloads, 'files-'));
      await apt.download(names, into);
      progress('unpacking');
      for (const [{ path }, packages] of fillings) await apt.unpack(into, packages, path);
    };
    const servers = await newestPackages(trees, apt);
    await fill(servers);
    await fill(await Promise.all(servers.map((filling) => librariesOf(filling, apt))));
    for (const tree of trees) await putInPlace(tree);
  } finally {
    await workspace.remove();
  }
}

async function newestPackages(trees: readonly Tree[], apt: Apt): Promise<Filling[]> {
  const newest = await apt.newest(trees.flatMap(({ server }) => PACKAGES[server]));
  const none = trees.filter(({ server }) => PACKAGES[server].some((pattern) => !newest.has(pattern)));
  if (none.length > 0) throw new Error(`its lists have no package of ${listed(none)}`);
  return trees.map((tree) => [tree, PACKAGES[tree.server].flatMap((pattern) => newest.get(pattern) ?? [])]);
}

async function librariesOf([tree, packages]: Filling, apt: Apt): Promise<Filling> {
  if (!(await lacksLibrary(tree))) return [tree, []];
  return [tree, (await Promise.all(packages.map((name) => apt.missingLibraries(name)))).flat()];
}

async function putInPlace(tree: Tree): Promise<void> {
  const place = placeOf(tree);
  // Another process may have installed a working tree, which must not be replaced.
  if (await unpacked(tree)) return;
  await rename(place, join(tree.draft, 'before')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(tree.path, place).catch(async (error: unknown) => {
    if (!(await unpacked(tree))) throw error;
  });
}

async function runnable(wanted: WantedServer): Promise<FoundServer> {
  const found = await unpacked(wanted);
  if (found) return found;
  throw new Error(`the server in ${placeOf(wanted)} does not run: a shared library is missing`);
}

function placeOf({ server, folder }: WantedServer): string {
  return join(folder, 'packages', server);
}

async function unpacked(wanted: WantedServer): Promise<FoundServer | undefined> {
  const tree = placeOf(wanted);
  const found = await findServers(wanted.server, placesIn(tree), wanted.user, await libraryFolders(tree));
  return found[0];
}

/** Returns true if a program needs a shared library that neither the tree nor the machine has. */
async function lacksLibrary({ server, path }: Tree): Promise<boolean> {
  const env = serverEnvironment(await libraryFolders(path));
  const programs = await programsIn(server, path);
  const checks = await Promise.all(programs.map((program) => runCommand('ldd', [program], { env })));
  return checks.some(({ code, stdout, stderr }) => code === 0 && `${stdout}${stderr}`.includes('not found'));
}

function placesIn(tree: string): { path: string; folders: string[]; postgresRoots: string[] } {
  const folders = [join(tree, 'usr/bin'), join(tree, 'usr/sbin')];
  return { path: '', folders, postgresRoots: [join(tree, 'usr/lib/postgresql')] };
}

async function programsIn(server: FoundServer['name'], tree: string): Promise<string[]> {
  const versions = await readdir(join(tree, 'usr/lib/postgresql')).catch(() => []);
  const candidates = [
    ...['usr/bin', 'usr/sbin'].map((folder) => join(tree, folder, server)),
    ...versions.map((version) => join(tree, 'usr/lib/postgresql', version, 'bin', server)),
  ];
  const isPresent = await Promise.all(candidates.map((program) => exists(program)));
  const found = candidates.filter((_, index) => isPresent[index]);
  // initdb needs more libraries than the server does.
  return server === 'postgres'
    ? [...found, ...found.map((program) => join(dirname(program), 'initdb'))]
    : found;
}

/** Returns the tree's library folders in the format of LD_LIBRARY_PATH. */
async function libraryFolders(tree: string): Promise<string> {
  const folders: string[] = [];
  for (const lib of ['lib', 'usr/lib']) {
    const entries = await readdir(join(tree, lib)).catch(() => []);
    folders.push(...entries.filter((name) => name.includes('-linux-')).map((name) => join(tree, lib, name)));
  }
  return folders.join(':');
}
