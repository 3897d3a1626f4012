import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  silent: boolean;
}

/** A TCP proxy between an app and a real server that injects network faults. */
export class FaultProxy {
  private readonly lines = new Set<Line>();
  /** Inspects or changes the bytes that the app sends. */
  alter: (bytes: Buffer) => Buffer = (bytes) => bytes;
  /** Whether new connections are closed at once, as if the server were down. */
  down = false;
  /** Whether new connections stay open and transfer nothing. */
  deaf = false;

  private constructor(
    private readonly server: Server,
    /** The server's URL with the proxy's address. */
    readonly url: string,
    /** The server's own URL, which may change when it restarts. */
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
   * Existing connections stay open and transfer nothing from now on, like those to a machine that died.
   * New connections work, like those to its successor.
   */
  silence(): void {
    for (const line of this.lines) line.silent = true;
  }

  /** Closes existing connections. New ones work, unless it is `down`. */
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
