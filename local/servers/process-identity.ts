import { readFile } from 'node:fs/promises';
import { runCommand } from './run-command.js';

/**
 * When a living process began, in the system's own notation: together with its number it never names another process.
 * Undefined if no such process runs. A zombie, whose parent has not read its exit code yet, does not run.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat !== undefined) {
    // After the name, which may contain anything: state, parent, …; the start is field 22 of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  }
  const { code, stdout } = await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return code === 0 ? stdout.trim() || undefined : undefined;
}
