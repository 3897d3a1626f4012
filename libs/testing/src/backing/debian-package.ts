import { access, chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Apt } from './apt.js';
import { findServers, type FoundServer } from './find-server.js';
import { localFolder } from './local-folder.js';
import { runCommand, type SystemUser } from './run-command.js';
import { serverEnvironment } from './server-environment.js';

// Redis keeps its program in redis-tools; redis-server is a link to it.
const PACKAGES = {
  postgres: ['postgresql-[0-9]+'],
  'redis-server': ['redis-server', 'redis-tools'],
  'nats-server': ['nats-server'],
  nginx: ['nginx'],
  openssl: ['openssl'],
};

/** Who runs the server, where PATH leads to Debian's tools, and who is told that it takes a while. */
export interface PackageOptions {
  user: SystemUser | undefined;
  env: NodeJS.ProcessEnv;
  progress: (text: string) => void;
}

/**
 * The server from the distribution's package, unpacked into `<folder>/packages` without root; later calls find it there.
 * Throws when this is no Debian or Ubuntu, or when the package cannot be had.
 */
export async function debianServer(
  server: FoundServer['name'],
  folder: string,
  { user, env, progress }: PackageOptions,
): Promise<FoundServer> {
  const packages = join(folder, 'packages');
  const tree = join(packages, server);
  const found = await unpacked(server, tree, user);
  if (found) return found;

  progress(`${server} is not on this machine: unpacking the distribution's package`);
  await localFolder(folder);
  await mkdir(packages, { recursive: true });
  await chmod(packages, 0o755);
  const draft = await mkdtemp(join(packages, 'draft-'));
  try {
    await chmod(draft, 0o755);
    await unpack(server, draft, env);
    // Another start may have put it there by now, which is as good.
    await rename(join(draft, 'tree'), tree).catch(async (error: unknown) => {
      if (!(await unpacked(server, tree, user))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const ready = await unpacked(server, tree, user);
  if (!ready) throw new Error(`the server unpacked into ${tree} does not run: a shared library is missing`);
  return ready;
}

async function unpack(server: FoundServer['name'], draft: string, env: NodeJS.ProcessEnv): Promise<void> {
  const apt = new Apt(draft, env);
  const names: string[] = [];
  for (const pattern of PACKAGES[server]) names.push(await apt.newest(pattern));
  const tree = join(draft, 'tree');
  await extract(apt, names, draft, tree);
  if (!(await lacksLibrary(server, tree))) return;
  const libraries = await Promise.all(names.map((name) => apt.missingLibraries(name)));
  await extract(apt, [...new Set(libraries.flat())], draft, tree);
}

async function extract(apt: Apt, names: readonly string[], draft: string, tree: string): Promise<void> {
  if (names.length === 0) return;
  const files = await mkdtemp(join(draft, 'files-'));
  await apt.download(names, files);
  for (const file of await readdir(files)) {
    const { code, stderr } = await runCommand('dpkg', ['-x', join(files, file), tree]);
    if (code !== 0) throw new Error(`dpkg could not unpack ${file}: ${stderr}`);
  }
}

async function unpacked(
  server: FoundServer['name'],
  tree: string,
  user: SystemUser | undefined,
): Promise<FoundServer | undefined> {
  const libraryPath = await libraryFolders(tree);
  const found = await findServers(server, placesIn(tree), user, libraryPath);
  return found[0];
}

/** Whether a program of the tree names a shared library that neither the tree nor the machine has. */
async function lacksLibrary(server: FoundServer['name'], tree: string): Promise<boolean> {
  const env = serverEnvironment(await libraryFolders(tree));
  const programs = await programsIn(server, tree);
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
  const programs = await Promise.all(
    candidates.map((program) =>
      access(program).then(
        () => [program],
        () => [],
      ),
    ),
  );
  const found = programs.flat();
  // initdb needs libraries that the server does not.
  return server === 'postgres'
    ? [...found, ...found.map((program) => join(dirname(program), 'initdb'))]
    : found;
}

/** The folders of shared libraries in a tree, as LD_LIBRARY_PATH wants them. */
async function libraryFolders(tree: string): Promise<string> {
  const folders: string[] = [];
  for (const lib of ['lib', 'usr/lib']) {
    const entries = await readdir(join(tree, lib)).catch(() => []);
    folders.push(...entries.filter((name) => name.includes('-linux-')).map((name) => join(tree, lib, name)));
  }
  return folders.join(':');
}
