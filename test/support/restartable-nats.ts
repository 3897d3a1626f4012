import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { serverEnvironment } from '#local/servers/find-server.js';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, signalProcess, startGuarded } from '#local/servers/guarded-process.js';
import { findTool } from './tool.js';
import { until } from './until.js';

const CONFIGURATION = 'nats.conf';
const READY_WITHIN_MS = 60_000;

/** Private NATS server with JetStream that keeps its address and data over restarts. */
export class RestartableNats {
  private process: GuardedProcess | undefined;

  private constructor(
    private readonly command: string,
    private readonly libraryPath: string | undefined,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /** @param configuration in addition to address and folder */
  static async start(configuration = ''): Promise<RestartableNats> {
    const server = await findTool('nats-server');
    const folder = await mkdtemp(join(tmpdir(), 'nats-'));
    await writeFile(join(folder, CONFIGURATION), configuration);
    const nats = new RestartableNats(server.command, server.libraryPath, folder, await freePort());
    await nats.restart();
    return nats;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts the server again. Resolves when it answers. */
  async restart(): Promise<void> {
    this.process = startGuarded({
      name: 'NATS',
      command: this.command,
      args: ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.folder, '-c', CONFIGURATION],
      cwd: this.folder,
      env: serverEnvironment(this.libraryPath),
      logFile: join(this.folder, 'nats.log'),
      signal: 'SIGTERM',
      grace: 1_000,
    });
    await until('NATS answers', READY_WITHIN_MS, async () => {
      const connection = await connect({ servers: `127.0.0.1:${this.port}`, reconnect: false });
      await connection.close();
      return true;
    });
  }

  /** Closes connections without a message, like a crash. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  /** Keeps connections open without answers (SIGSTOP). */
  sleep(): void {
    this.signal('SIGSTOP');
  }

  wake(): void {
    this.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    this.wake();
    await this.process?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private signal(name: NodeJS.Signals): void {
    if (this.process) signalProcess(this.process.pid, name);
  }
}
