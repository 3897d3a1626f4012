import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a real server that a test can cut, and open again. */
export class Cable {
  private readonly open = new Set<Socket>();
  private readonly far = new Set<Socket>();
  private isCut = false;
  /** Sees what the app sends. */
  watch: (bytes: Buffer) => void = () => undefined;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(target: string): Promise<Cable> {
    const { hostname, port } = new URL(target);
    const server = createServer((socket) => cable.join(socket, connect(Number(port), hostname)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const cable = new Cable(server, url.href);
    return cable;
  }

  private join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.open.add(one);
      one
        .on('error', () => other.destroy())
        .on('close', () => other.destroy())
        .pipe(other);
    }
    this.far.add(far);
    near.on('data', (bytes: Buffer) => this.watch(bytes));
    if (this.isCut) near.destroy();
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.open) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  /** Keeps the server's answers back; what the app sends goes on. */
  hold(): void {
    for (const socket of this.far) socket.pause();
  }

  release(): void {
    for (const socket of this.far) socket.resume();
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}
