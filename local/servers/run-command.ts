import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

export interface SystemUser {
  uid: number;
  gid: number;
}

/** `timeout` is in milliseconds, by default five minutes. */
export interface CommandOptions {
  user?: SystemUser | undefined;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeout?: number;
}

/** `code` is -1 if the command did not start or was killed. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command. Never throws. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const result = { code: -1, stdout: '', stderr: '' };
    const child = spawn(command, args, {
      cwd: options.cwd ?? '/',
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options.user,
    });
    child.stdout.on('data', (data: Buffer) => (result.stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (result.stderr += data.toString()));
    // The timeout of spawn would never fire for a program that could not start.
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeout ?? 300_000);
    const end = (last: Partial<CommandResult>): void => {
      clearTimeout(timer);
      resolve({ ...result, ...last });
    };
    child.on('error', (error) => end({ code: -1, stderr: error.message }));
    child.on('close', (code) => end({ code: code ?? -1 }));
  });
}

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

/** Returns `nobody` under root, because PostgreSQL refuses to run as root; otherwise undefined, for the current user. */
export async function unprivilegedUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([
    runCommand('id', ['-u', 'nobody']),
    runCommand('id', ['-g', 'nobody']),
  ]);
  if (uid.code !== 0 || gid.code !== 0) {
    throw new Error(
      'PostgreSQL refuses to run as root and this machine has no user "nobody": run as another user, or set DATABASE_URL',
    );
  }
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
