import { link, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOf } from '#testing/process-identity.js';
import { StartError } from './start.error.js';

/** The right to run on a folder of data. */
export interface Instance {
  /** Whether the last one was killed, so that its processes may still be ending. */
  tookOver: boolean;
  release(): Promise<void>;
}

/**
 * Takes the folder for this process. The holder's number and start time are in its file `lock`, which is made whole or not
 * at all; one whose process is gone is taken over.
 *
 * @throws StartError when a living process has it, with its number and addresses
 */
export async function becomeOnlyInstance(directory: string): Promise<Instance> {
  const lock = join(directory, 'lock');
  const folder = await mkdtemp(join(directory, 'lock-'));
  try {
    const mine = JSON.stringify({ pid: process.pid, start: await startOf(process.pid) });
    const draft = join(folder, 'mine');
    await writeFile(draft, mine, { mode: 0o600 });
    let tookOver = false;
    for (let tries = 0; tries < 20; tries += 1) {
      if (await linked(draft, lock)) return { tookOver, release: () => release(lock, mine) };
      const theirs = await readFile(lock, 'utf8').catch(() => '');
      await refuseIfAlive(theirs, directory);
      tookOver = true;
      await discard(lock, theirs, join(folder, `stale-${tries}`));
    }
    throw new StartError(
      `${lock} changes all the time: more than one npm start tries to begin. Start one only`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function linked(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function refuseIfAlive(content: string, directory: string): Promise<void> {
  const { pid, start } = parse(content);
  if (pid === undefined || start === undefined || (await startOf(pid)) !== start) return;
  const run = parse(await readFile(join(directory, 'run.json'), 'utf8').catch(() => ''));
  const where = run.auth_url ? `${run.auth_url}, ${run.base_url}, ${run.api_url}` : 'it is still starting';
  throw new StartError(`npm start already runs here (process ${pid}: ${where}). End it first: kill ${pid}`);
}

/** Moves a stale lock away. What was moved may be the lock of one that was quicker than us: then it goes back. */
async function discard(lock: string, stale: string, away: string): Promise<void> {
  const moved = await rename(lock, away).then(
    () => true,
    () => false,
  );
  if (moved && (await readFile(away, 'utf8')) !== stale) await linked(away, lock);
}

async function release(lock: string, mine: string): Promise<void> {
  if ((await readFile(lock, 'utf8').catch(() => '')) === mine) await rm(lock, { force: true });
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
