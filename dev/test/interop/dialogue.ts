import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A program that says and hears one JSON value a line. */
export class Dialogue {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: AsyncIterator<string>;
  private readonly closed: Promise<void>;
  private errors = '';

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(command, args, { env, stdio: 'pipe' });
    this.lines = createInterface(this.child.stdout)[Symbol.asyncIterator]();
    this.closed = new Promise((resolve) => void this.child.once('close', () => resolve()));
    this.child.stderr.on('data', (data: Buffer) => (this.errors += data.toString()));
    this.child.on('error', (error) => (this.errors += error.message));
    // Its end, which `hear` reports.
    this.child.stdin.on('error', () => undefined);
  }

  tell(value: unknown): void {
    this.child.stdin.write(`${JSON.stringify(value)}\n`);
  }

  /** What it says next. Throws what it wrote to stderr when it has ended instead. */
  async hear<T>(): Promise<T> {
    const { value, done } = await this.lines.next();
    if (!done) return JSON.parse(value) as T;
    await this.closed;
    throw new Error(`the program ended: ${this.errors}`);
  }

  /** Ends it, whatever it is doing. */
  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }
}
