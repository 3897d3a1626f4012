import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { serverEnvironment } from '#local/servers/find-server.js';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, signalProcess, startGuarded } from '#local/servers/guarded-process.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { findTool } from './tool.js';
import { until } from './until.js';
import { temporaryFolder } from '#local/servers/service-folder.js';

const CONFIGURATION = 'nats.conf';
const READY_WITHIN_MS = 60_000;

/** Private NATS server with JetStream. Its address and data survive restarts. */
export class RestartableNats {
  private process: GuardedProcess | undefined;

  private constructor(
    private readonly command: string,
    private readonly libraryPath: string | undefined,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /** @param configuration settings in addition to the address and the folder */
  static async start(configuration = ''): Promise<RestartableNats> {
    const server = await findTool('nats-server');
    const folder = await temporaryFolder('nats');
    await writeFile(join(folder, CONFIGURATION), configuration);
    const nats = new RestartableNats(server.command, server.libraryPath, folder, await freePort());
    await nats.restart();
    return nats;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts the server with the same address and data. Resolves when the server responds. */
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

  /** Ends the server without a message to its clients, like a crash. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  /** Stops the process with SIGSTOP, so that connections stay open without responses. */
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

const NAME = 'connections test';

/** Returns the number and name of every connection to this account, closed ones included. Omits its own connection. */
export async function connectionsTo(natsUrl: string): Promise<string[]> {
  const nats = await connect(natsOptions(natsUrl, NAME));
  const request = JSON.stringify({ state: 2 });
  const reply = await nats.request('$SYS.REQ.ACCOUNT.PING.CONNZ', request, { timeout: 5_000 });
  await nats.close();
  const { data } = reply.json<{ data: { connections: { cid: number; name?: string }[] } }>();
  return data.connections.filter(({ name }) => name !== NAME).map(({ cid, name }) => `${cid} ${name}`);
}
