import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, signalProcess, startGuarded } from '#local/servers/guarded-process.js';
import { serverEnvironment } from '#local/servers/find-server.js';
import { findTool } from '../support/tool.js';
import { until } from '../support/until.js';

/** Redis process that can be killed and restarted. */
export class RedisNode {
  private process: GuardedProcess | undefined;

  /** @param configuration settings in addition to the address, password and folder */
  constructor(
    readonly port: number,
    private readonly folder: string,
    readonly password: string,
    private readonly configuration: readonly string[],
    private readonly mode: readonly string[] = [],
  ) {}

  async start(): Promise<this> {
    const { command, libraryPath } = await findTool('redis-server');
    const file = join(this.folder, `${this.port}.conf`);
    const lines = [
      'bind 127.0.0.1',
      `port ${this.port}`,
      `requirepass ${this.password}`,
      `dir "${this.folder}"`,
      'daemonize no',
      ...this.configuration,
    ];
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    this.process = startGuarded({
      name: `Redis ${this.port}`,
      command,
      args: [file, ...this.mode],
      cwd: this.folder,
      env: serverEnvironment(libraryPath),
      logFile: join(this.folder, `${this.port}.log`),
      signal: 'SIGTERM',
      grace: 2_000,
    });
    await until(`Redis ${this.port} answers`, 30_000, () =>
      this.ask(async (redis) => (await redis.ping()) === 'PONG'),
    );
    return this;
  }

  async ask<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const { port, password } = this;
    const redis = new Redis({
      port,
      password,
      host: '127.0.0.1',
      retryStrategy: () => null,
      // A process stopped by SIGSTOP never responds.
      commandTimeout: 10_000,
    });
    redis.on('error', () => undefined);
    try {
      return await work(redis);
    } finally {
      // `disconnect` on a closed connection would leave a timer that keeps a Jest worker alive.
      if (redis.status !== 'end') redis.disconnect();
    }
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (this.process) signalProcess(this.process.pid, name);
  }

  async stop(): Promise<void> {
    this.signal('SIGCONT');
    await this.process?.stop();
  }
}

/** Starts a Redis server for one suite, which can be stopped and killed. @param configuration additional settings */
export async function startPrivateRedis(configuration: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'private-redis-'));
  const password = randomBytes(16).toString('hex');
  const node = await new RedisNode(await freePort(), folder, password, ['save ""', ...configuration]).start();
  return {
    node,
    url: `redis://:${password}@127.0.0.1:${node.port}`,
    async close(): Promise<void> {
      await node.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type PrivateRedis = Awaited<ReturnType<typeof startPrivateRedis>>;
