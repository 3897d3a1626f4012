import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { until } from './until.js';

const PATIENCE_MS = 60_000;

/** Child process that prints a URL for its user and exchanges JSON values, one per line. */
export class ClientProcess {
  output = '';
  errors = '';
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly closed: Promise<unknown>;
  private read = { output: 0, errors: 0 };

  constructor(command: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.child = spawn(command, args, { ...options, stdio: 'pipe' });
    this.closed = once(this.child, 'close');
    this.child.stdout.on('data', (data: Buffer) => (this.output += data.toString()));
    this.child.stderr.on('data', (data: Buffer) => (this.errors += data.toString()));
  }

  /** Waits until the process prints a URL with this path and a query. */
  async printedUrl(path: string): Promise<URL> {
    let found: string | undefined;
    await this.until(`it prints a URL of ${path}`, () => {
      const texts = [this.output.slice(this.read.output), this.errors.slice(this.read.errors)];
      found = texts
        .flatMap((text) => text.match(/http\S+\?\S+(?=\s)/g) ?? [])
        .find((url) => new URL(url).pathname === path);
      return found !== undefined;
    });
    this.read = { output: this.output.length, errors: this.errors.length };
    return new URL(found!);
  }

  send(message: object): void {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Waits for a line of JSON with these members. */
  async receive<Message extends object>(members: Readonly<Record<string, unknown>>): Promise<Message> {
    let found: Message | undefined;
    await this.until(`it prints ${JSON.stringify(members)}`, () => {
      const lines = this.output.split('\n').filter((line) => line.startsWith('{'));
      found = lines
        .map((line) => JSON.parse(line) as Message)
        .find((message) =>
          Object.entries(members).every(
            ([name, value]) => (message as Record<string, unknown>)[name] === value,
          ),
        );
      return found !== undefined;
    });
    return found!;
  }

  async exitCode(): Promise<number | null> {
    await this.closed;
    return this.child.exitCode;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }

  private async until(what: string, check: () => boolean): Promise<void> {
    const ended = () => this.child.exitCode !== null && !check();
    await until(what, PATIENCE_MS, () => check() || ended()).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.output}${this.errors}`, { cause: error });
    });
    if (!check()) throw new Error(`it ended with ${this.child.exitCode}:\n${this.output}${this.errors}`);
  }
}
