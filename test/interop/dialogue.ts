import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A child process that exchanges JSON values, one per line. */
export class Dialogue {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: AsyncIterator<string>;
  private readonly closed: Promise<void>;
  private errors = '';

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd = process.cwd()) {
    this.child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    this.lines = createInterface(this.child.stdout)[Symbol.asyncIterator]();
    this.closed = new Promise((resolve) => void this.child.once('close', () => resolve()));
    this.child.stderr.on('data', (data: Buffer) => (this.errors += data.toString()));
    this.child.on('error', (error) => (this.errors += error.message));
    // Writing fails with EPIPE after the process has exited. `receive` reports the exit.
    this.child.stdin.on('error', () => undefined);
  }

  send(value: unknown): void {
    this.child.stdin.write(`${JSON.stringify(value)}\n`);
  }

  /** @throws Error with stderr if the process has exited */
  async receive<T>(): Promise<T> {
    const { value, done } = await this.lines.next();
    if (!done) return JSON.parse(value) as T;
    await this.closed;
    throw new Error(`the program ended: ${this.errors}`);
  }

  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }
}
