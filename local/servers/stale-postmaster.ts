import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './run-command.js';

/**
 * Makes way for a server on a data folder whose last one was killed. PostgreSQL refuses to start while the number in
 * postmaster.pid belongs to a living process, even one that has nothing to do with it: then the file goes. A postmaster of
 * this very folder is ended first, at most 20 seconds.
 */
export async function clearStalePid(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  for (let tries = 0; tries < 200; tries += 1) {
    const args = await commandLine(pid);
    if (args === '') return;
    if (!args.includes(data)) {
      await rm(file, { force: true });
      return;
    }
    // Immediate shutdown; the next start recovers from the log.
    if (tries === 0) signal(pid, 'SIGQUIT');
    if (tries === 150) signal(pid, 'SIGKILL');
    await sleep(100);
  }
}

/** Returns the command line of a process, with spaces between the arguments; empty if no such process runs. */
async function commandLine(pid: number): Promise<string> {
  const listed = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (listed !== undefined) return listed.replaceAll('\0', ' ').trim();
  return (await runCommand('ps', ['-ww', '-o', 'args=', '-p', String(pid)])).stdout.trim();
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}
