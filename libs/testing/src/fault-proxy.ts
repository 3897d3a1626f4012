import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  silent: boolean;
}

/** Stands between an app and a real server, and does to their connections what networks do. */
export class FaultProxy {
  private readonly lines = new Set<Line>();
  /** Sees and may change what the app sends. */
  alter: (bytes: Buffer) => Buffer = (bytes) => bytes;
  /** Whether new connections are closed at once, as by a server that is down. */
  down = false;
  /** Whether new connections carry nothing and are not closed either. */
  deaf = false;

  private constructor(
    private readonly server: Server,
    /** The server's URL with our address in it. */
    readonly url: string,
    /** Where new connections lead: the server's own URL, which may change when it is started again. */
    public target: string,
  ) {}

  static async start(target: string): Promise<FaultProxy> {
    const server = createServer((near) => {
      const { hostname, port } = new URL(proxy.target);
      proxy.join(near, connect(Number(port), hostname));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const proxy = new FaultProxy(server, url.href, target);
    return proxy;
  }

  /**
   * From now on the connections that exist carry nothing and are not closed either, as those to a machine that died;
   * new ones work, as those to the machine that took over.
   */
  silence(): void {
    for (const line of this.lines) line.silent = true;
  }

  /** Closes the connections that exist; new ones work, unless it is `down`. */
  cut(): void {
    for (const { near } of this.lines) near.destroy();
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private join(near: Socket, far: Socket): void {
    const line = { near, far, silent: this.deaf };
    this.lines.add(line);
    near.on('data', (bytes: Buffer) => line.silent || far.write(this.alter(bytes)));
    far.on('data', (bytes: Buffer) => line.silent || near.write(bytes));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one
        .on('error', () => other.destroy())
        .on('close', () => {
          other.destroy();
          this.lines.delete(line);
        });
    if (this.down) near.destroy();
  }
}
