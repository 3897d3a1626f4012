import { spawn } from 'node:child_process';

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
