import {
  access,
  chmod,
  constants,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { runCommand, type SystemUser } from './run-command.js';

/**
 * Creates a folder that other users cannot list. Under root, other users may enter it, because PostgreSQL runs as
 * `nobody`.
 * Keeps the mode of an existing folder.
 */
export async function localFolder(directory: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  const created = await mkdir(directory, { recursive: true, mode });
  if (created !== undefined) await chmod(directory, mode);
}

/** Returns a secret that needs no escaping in a URL or configuration file. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the secret in a file, which the first call creates. Concurrent first calls return the same secret. */
export async function keptSecret(
  file: string,
  make: () => string | Promise<string> = newSecret,
): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const folder = await mkdtemp(`${file}-`);
  try {
    const draft = join(folder, 'secret');
    await writeFile(draft, `${await make()}\n`, { mode: 0o600 });
    // link(2) is atomic and does not replace an existing file.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

const NAME = 'scheduling-oauth';

/**
 * Returns a folder that the user can reach: `directory`, or else `/var/tmp/scheduling-oauth-<hash of directory>-<id>`.
 * Prefers a folder that contains `marker`, so that data are found again after a change of permissions.
 */
export async function keptFolder(
  directory: string,
  user: SystemUser | undefined,
  marker: string,
): Promise<string> {
  await localFolder(directory);
  if (!user) return directory;
  const fallback = await fallbackFolder(directory);
  if (await exists(join(fallback, marker))) return ownFolder(fallback);
  if (await canEnter(directory, user)) return directory;
  if (await exists(join(directory, marker))) {
    throw new Error(
      `the user nobody cannot reach the data in ${join(directory, marker)} (PostgreSQL refuses to run as root): ` +
        'allow others to enter that folder and its parents (chmod o+x), or move the data',
    );
  }
  await removeAbandoned(fallback);
  return ownFolder(fallback);
}

/** Returns a folder named by an id that `directory` stores, so that a recreated `directory` gets a new folder. */
async function fallbackFolder(directory: string): Promise<string> {
  const hash = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16);
  const id = await keptSecret(join(directory, 'data-id'), () => randomBytes(8).toString('hex'));
  return join('/var/tmp', `${NAME}-${hash}-${id}`);
}

/** Removes the fallback folders of deleted directories with the same path. */
async function removeAbandoned(folder: string): Promise<void> {
  const siblings = `${basename(folder).slice(0, -17)}-`;
  for (const name of await readdir('/var/tmp')) {
    const path = join('/var/tmp', name);
    if (!name.startsWith(siblings) || path === folder) continue;
    if ((await lstat(path)).uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}

/** File system in memory. On ext4, a new file costs up to 1 ms of CPU time if many files were deleted just before. */
const MEMORY = '/dev/shm';
/** Bytes that a run of all tests does not fill. A container often has 64 MB. */
const MEMORY_ROOM = 2 * 1024 ** 3;

/** Creates a folder with mode 0700 in a place that the user can reach, in memory if it has room. */
export async function temporaryFolder(role: string, user?: SystemUser): Promise<string> {
  const inMemory = (await freeBytes(MEMORY)) >= MEMORY_ROOM;
  for (const base of [...(inMemory ? [MEMORY] : []), tmpdir(), '/tmp', '/var/tmp']) {
    if (!(await exists(base, constants.W_OK)) || (user && !(await canEnter(base, user)))) continue;
    return mkdtemp(join(base, `${NAME}-${role}-`));
  }
  throw new Error('no temporary folder can be used: set TMPDIR to one that every user may enter');
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize;
}

/** Creates a folder that others may traverse but not change. @throws Error for a folder of another user */
async function ownFolder(path: string): Promise<string> {
  await mkdir(path, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const stats = await lstat(path);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) {
    throw new Error(`${path} belongs to another user of this machine: remove it`);
  }
  await chmod(path, 0o711);
  return path;
}

async function canEnter(folder: string, user: SystemUser): Promise<boolean> {
  return (await runCommand('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { user })).code === 0;
}

/** @param mode such as `constants.X_OK` */
export function exists(path: string, mode?: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
