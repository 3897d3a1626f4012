import { readFile } from 'node:fs/promises';
import { runCommand } from './run-command.js';

/**
 * Returns the start time, which together with the id identifies a process; undefined for a zombie or an unknown
 * process.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat !== undefined) {
    // Skips the name, which may contain any character. The start time is field 22 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  }
  const { code, stdout } = await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return code === 0 ? stdout.trim() || undefined : undefined;
}
