import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, startGuarded } from '#local/servers/guarded-process.js';
import { serverEnvironment } from '#local/servers/find-server.js';
import { findTool } from '../support/tool.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '#local/servers/service-folder.js';

interface Node {
  readonly port: number;
  readonly monitor: number;
  readonly process: GuardedProcess;
}

/** Three NATS servers that form a cluster. */
export class NatsCluster {
  private constructor(
    private readonly nodes: readonly Node[],
    private readonly folder: string,
    private readonly password: string,
  ) {}

  static async start(): Promise<NatsCluster> {
    const folder = await temporaryFolder('nats-cluster');
    const password = randomBytes(16).toString('hex');
    const { command, libraryPath } = await findTool('nats-server');
    const ports = await Promise.all(
      [1, 2, 3].map(async () => ({
        port: await freePort(),
        monitor: await freePort(),
        route: await freePort(),
      })),
    );
    const routes = ports.map(({ route }) => `"nats://route:${password}@127.0.0.1:${route}"`).join(', ');
    const nodes = await Promise.all(
      ports.map(async ({ port, monitor, route }) => {
        const file = join(folder, `${port}.conf`);
        const lines = [
          `host: "127.0.0.1"`,
          `port: ${port}`,
          `http: "127.0.0.1:${monitor}"`,
          `server_name: "n${port}"`,
          `authorization { user: "oauth", password: "${password}" }`,
          `cluster { name: "test", listen: "127.0.0.1:${route}", authorization { user: "route", password: "${password}" }, routes: [${routes}] }`,
        ];
        await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
        const process = startGuarded({
          name: `NATS ${port}`,
          command,
          args: ['-c', file],
          cwd: folder,
          env: serverEnvironment(libraryPath),
          logFile: join(folder, `${port}.log`),
          signal: 'SIGTERM',
          grace: 1_000,
        });
        return { port, monitor, process };
      }),
    );
    const cluster = new NatsCluster(nodes, folder, password);
    try {
      await Promise.all(nodes.map((node) => cluster.ready(node)));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get url(): string {
    return this.nodes.map(({ port }) => this.urlOf(port)).join(',');
  }

  /** Kills the server with the most clients of this name. @returns the number of these clients */
  async killServerOf(client: string): Promise<number> {
    const counted = await Promise.all(
      this.nodes.map(async (node) => ({ node, clients: await clientsOn(node, client) })),
    );
    const [most] = counted.toSorted((a, b) => b.clients - a.clients);
    if (!most) return 0;
    process.kill(most.node.process.pid, 'SIGKILL');
    await most.node.process.ended;
    return most.clients;
  }

  /** Returns the number of clients with this name on all servers. */
  async clients(name: string): Promise<number> {
    const counts = await Promise.all(this.nodes.map((node) => clientsOn(node, name)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ process }) => process.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private urlOf(port: number): string {
    return `nats://oauth:${this.password}@127.0.0.1:${port}`;
  }

  private async ready({ port, monitor }: Node): Promise<void> {
    await until(`NATS ${port} answers and has its routes`, 30_000, async () => {
      const nats = await connect({
        servers: `127.0.0.1:${port}`,
        user: 'oauth',
        pass: this.password,
        reconnect: false,
      });
      await nats.close();
      const answer = await fetch(`http://127.0.0.1:${monitor}/routez`);
      const { routes = [] } = (await answer.json()) as { routes?: { remote_id: string }[] };
      return new Set(routes.map(({ remote_id }) => remote_id)).size === this.nodes.length - 1;
    });
  }
}

/** Returns the number of clients with this name; 0 if the server was killed. */
async function clientsOn({ monitor }: Node, client: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${monitor}/connz`).catch(() => undefined);
  const { connections = [] } = ((await response?.json()) ?? {}) as { connections?: { name?: string }[] };
  return connections.filter(({ name }) => name === client).length;
}
