import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandResult, startOf } from './run-command.js';
import { type GuardedProcess, startGuarded } from './guarded-process.js';

const NAME = /^draft-(\d+)-(.+)-\w+$/;

/** Temporary folders and running commands. Guards remove both when this process ends, even by SIGKILL. */
export class Workspace {
  private readonly folders: string[] = [];
  private readonly commands: GuardedProcess[] = [];

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** Creates a folder that every user may enter. Deletes abandoned folders. */
  async folder(parent: string): Promise<string> {
    await mkdir(parent, { recursive: true });
    await chmod(parent, 0o755);
    await removeAbandoned(parent);
    const folder = await mkdtemp(join(parent, `draft-${process.pid}-${await startOf(process.pid)}-`));
    this.folders.push(folder);
    await chmod(folder, 0o755);
    return folder;
  }

  /** Runs a command without a timeout. `stdout` includes stderr. */
  async run(folder: string, command: string, args: readonly string[]): Promise<CommandResult> {
    const logFile = join(this.folders[0] ?? folder, `command-${this.commands.length}.log`);
    const running = startGuarded({
      name: command,
      command,
      args,
      cwd: folder,
      env: { ...this.env, LC_ALL: 'C' },
      logFile,
      signal: 'SIGTERM',
      grace: 1_000,
      remove: this.folders,
    });
    this.commands.push(running);
    const code = Number(/^exit code (\d+)$/.exec(await running.ended)?.[1] ?? -1);
    return { code, stdout: await readFile(logFile, 'utf8'), stderr: '' };
  }

  async remove(): Promise<void> {
    await Promise.all(this.commands.map((command) => command.stop()));
    await Promise.all(this.folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

/** Deletes folders that remained because a machine or container stopped together with the guards. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (start === undefined || (await startOf(Number(pid))) === start) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}
