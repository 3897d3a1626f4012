import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  silent: boolean;
}

/** TCP proxy between an app and a server. Injects network faults. */
export class FaultProxy {
  private readonly lines = new Set<Line>();
  private turn = 0;
  private isDown = false;
  private isSilent = false;
  private readonly prepared = new Map<string, string>();
  /** Receives the app's bytes, and may return a buffer that replaces them. */
  onData: (bytes: Buffer) => Buffer | undefined = () => undefined;
  /** Receives the app's SQL statements. */
  onStatement: (sql: string) => void = () => undefined;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    /** URLs of replicas, which receive new connections alternately. */
    public targets: readonly [string, ...string[]],
  ) {}

  static async start(target: string, port = 0): Promise<FaultProxy> {
    const server = createServer((near) => {
      const { hostname, port } = new URL(proxy.targets[proxy.turn++ % proxy.targets.length] ?? '');
      proxy.join(near, connect(Number(port), hostname));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const proxy = new FaultProxy(server, url.href, [target]);
    return proxy;
  }

  disconnect(): void {
    this.isDown = true;
    this.cut();
  }

  /** Forwards new connections again after `disconnect` or `silence`. */
  reconnect(): void {
    this.isDown = false;
    this.isSilent = false;
  }

  /** Closes existing connections. New connections still work. */
  cut(): void {
    for (const { near } of this.lines) near.destroy();
  }

  /**
   * Keeps connections open without traffic, like an unresponsive machine.
   *
   * @param connections `existing` to keep new connections working
   */
  silence(connections: 'existing' | 'all'): void {
    this.isSilent = connections === 'all';
    for (const line of this.lines) line.silent = true;
  }

  /** Delays responses on existing connections until `release`. Requests are still forwarded. */
  hold(): void {
    for (const { far } of this.lines) far.pause();
  }

  release(): void {
    for (const { far } of this.lines) far.resume();
  }

  async close(): Promise<void> {
    this.cut();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }

  private join(near: Socket, far: Socket): void {
    const line = { near, far, silent: this.isSilent };
    this.lines.add(line);
    near.on('data', (bytes: Buffer) => {
      if (line.silent) return;
      far.write(this.onData(bytes) ?? bytes);
      if (this.url.startsWith('postgres')) this.reportStatements(bytes);
    });
    far.on('data', (bytes: Buffer) => line.silent || near.write(bytes));
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const)
      socket
        .on('error', () => peer.destroy())
        .on('close', () => {
          peer.destroySoon();
          this.lines.delete(line);
        });
    if (this.isDown) near.destroy();
  }

  /** Parses PostgreSQL messages: Query, and Bind of a statement that Parse has prepared. */
  private reportStatements(bytes: Buffer): void {
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      const type = String.fromCharCode(bytes[at] ?? 0);
      const body = bytes.subarray(at + 5, at + 1 + bytes.readUInt32BE(at + 1)).toString('latin1');
      const [first = '', second = ''] = body.split('\0', 2);
      if (type === 'P') this.prepared.set(first, second);
      const sql = type === 'Q' ? first : type === 'B' ? this.prepared.get(second) : undefined;
      if (sql !== undefined) this.onStatement(sql);
    }
  }
}
