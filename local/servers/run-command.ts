import { spawn } from 'node:child_process';

/** User and group ids for `spawn`. */
export interface SystemUser {
  uid: number;
  gid: number;
}

/** User, folder, environment and timeout (milliseconds) of a command. */
export interface CommandOptions {
  user?: SystemUser | undefined;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeout?: number;
}

/** The end of a command: its exit code (-1 when it could not run or was killed) and what it printed. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a short command to its end. Never throws: a program that does not exist is the code -1. */
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
    // Not spawn's timeout, which never fires for a program that could not start.
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeout ?? 300_000);
    const end = (last: Partial<CommandResult>): void => {
      clearTimeout(timer);
      resolve({ ...result, ...last });
    };
    child.on('error', (error) => end({ code: -1, stderr: error.message }));
    child.on('close', (code) => end({ code: code ?? -1 }));
  });
}
