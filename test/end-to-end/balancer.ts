import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/** Gives each new connection to the next of several processes, as the Service of a cluster does. */
export class Balancer {
  private next = 0;

  private constructor(
    private readonly server: Server,
    private ports: readonly number[],
  ) {}

  static async start(): Promise<Balancer> {
    const server = createServer();
    const balancer = new Balancer(server, []);
    server.on('connection', (client) => {
      const port = balancer.ports[balancer.next++ % balancer.ports.length];
      const target = connect(port ?? 0, '127.0.0.1');
      for (const [from, to] of [
        [client, target],
        [target, client],
      ] as const)
        from.on('error', () => to.destroy()).pipe(to);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** @param ports of the processes that get connections from now on */
  use(ports: readonly number[]): void {
    this.ports = ports;
  }

  close(): void {
    this.server.close();
  }
}
