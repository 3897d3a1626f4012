import { spawn } from 'node:child_process';

/** Numbers of a user of this machine, as `spawn` takes them. */
export interface SystemUser {
  uid: number;
  gid: number;
}

/** How a command is run: as whom, where, with which environment, and for how long at most (milliseconds). */
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
    // Not spawn's own timeout, which goes on waiting for a program that never began.
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeout ?? 300_000);
    const end = (last: Partial<CommandResult>): void => {
      clearTimeout(timer);
      resolve({ ...result, ...last });
    };
    child.on('error', (error) => end({ code: -1, stderr: error.message }));
    child.on('close', (code) => end({ code: code ?? -1 }));
  });
}
