import { link, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOf } from '../servers/run-command.js';
import { StartError } from './settings.js';

export interface FolderLock {
  /** True after a killed npm start, whose processes may still be stopping. */
  wasStale: boolean;
  release(): Promise<void>;
}

/** Locks the folder for this process. Replaces a stale lock. @throws StartError if a running process holds the lock */
export async function lockFolder(directory: string): Promise<FolderLock> {
  const lock = join(directory, 'lock');
  const folder = await mkdtemp(join(directory, 'lock-'));
  try {
    const self = JSON.stringify({ pid: process.pid, start: await startOf(process.pid) });
    const draft = join(folder, 'lock');
    await writeFile(draft, self, { mode: 0o600 });
    let wasStale = false;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (await tryLink(draft, lock)) return { wasStale, release: () => release(lock, self) };
      const owner = await readFile(lock, 'utf8').catch(() => '');
      await throwIfRunning(owner, directory);
      wasStale = true;
      await removeStale(lock, owner, join(folder, `stale-${attempt}`));
    }
    throw new StartError(
      `${lock} changes constantly: several npm start commands compete for it. Run only one`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryLink(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function throwIfRunning(content: string, directory: string): Promise<void> {
  const { pid, start } = parse(content);
  if (pid === undefined || start === undefined || (await startOf(pid)) !== start) return;
  const run = parse(await readFile(join(directory, 'run.json'), 'utf8').catch(() => ''));
  const where = run.auth_url ? `${run.auth_url}, ${run.base_url}, ${run.api_url}` : 'it is still starting';
  throw new StartError(
    `npm start is already running here (process ${pid}: ${where}). Stop it first: kill ${pid}`,
  );
}

/** Removes a stale lock. Restores the lock if another process has replaced it in the meantime. */
async function removeStale(lock: string, stale: string, target: string): Promise<void> {
  const moved = await rename(lock, target).then(
    () => true,
    () => false,
  );
  if (moved && (await readFile(target, 'utf8')) !== stale) await tryLink(target, lock);
}

async function release(lock: string, self: string): Promise<void> {
  if ((await readFile(lock, 'utf8').catch(() => '')) === self) await rm(lock, { force: true });
}

interface Content {
  pid?: number;
  start?: string;
  auth_url?: string;
  base_url?: string;
  api_url?: string;
}

function parse(text: string): Content {
  try {
    return Object(JSON.parse(text)) as Content;
  } catch {
    return {};
  }
}
